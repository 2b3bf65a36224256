"""One task per run limit, and the scripted model that makes the limit bite, runnable on every harness.

`python -P -m harness.testing.live --limits` runs them; what must come of each stands in
`harness.testing.live.limit_table`.
"""
