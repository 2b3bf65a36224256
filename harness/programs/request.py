"""The only place for what every launch takes from a request: the environment, the credential, the checked limits."""

from harness.launch import Route, TurnRequest
from harness.model_contract import check_contract, check_limit
from harness.programs.program import LaunchError, RequestRefusedError

PASSED = ("TMPDIR", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
PLAIN = {"LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1", "CI": "1"}


def environment(request: TurnRequest, *taken: str, **more: str) -> dict[str, str]:
    """Return a program's whole environment.

    Args:
        request: Where the values come from.
        taken: Names that are taken over from the caller where they are set.
        more: The program's own.
    """
    path = ":".join((*map(str, request.path_prefix), request.environment.get("PATH", "/usr/bin:/bin")))
    passed = {name: request.environment[name] for name in (*PASSED, *taken) if name in request.environment}
    return {**PLAIN, "HOME": str(request.home), "PATH": path, **passed, **more}


def credential(request: TurnRequest, route: Route) -> str:
    """Return the route's credential.

    Raises:
        LaunchError: When the caller's environment does not hold it.
    """
    found = request.environment.get(route.key_name)
    if not found:
        raise LaunchError(f"{route.key_name} is not set; expected the credential of the route. Set it and run again")
    return found


def secrets(request: TurnRequest, *names: str) -> tuple[str, ...]:
    """Return the values to take out of what is recorded: the route's credential, and those of these names."""
    keys = (*names, *((request.route.key_name,) if request.route is not None else ()))
    return tuple(sorted({value for key in keys if (value := request.environment.get(key))}))


def checked(request: TurnRequest) -> TurnRequest:
    """Return the request, or refuse it before anything is started.

    Raises:
        RequestRefusedError: When a limit is not a positive safe integer or is above the model's contract, or a route
            comes without a model.
    """
    check_contract(request=request.max_output_tokens, contract=request.model_max_output_tokens)
    check_limit("context_tokens", request.context_tokens)
    if request.route is not None and not request.model:
        raise RequestRefusedError("a route needs a model name; found none. Give the model")
    return request


def ignored(request: TurnRequest, *names: str) -> tuple[str, ...]:
    """Return those fields that the request sets among the ones that a program cannot honour."""
    return tuple(sorted(name for name in names if getattr(request, name) not in (None, ())))
