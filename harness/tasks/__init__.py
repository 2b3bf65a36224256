"""The room of tasks: what a task asks and checks, the folder it runs in, and one attempt at it."""
