"""What holds for every test: hypothesis draws its examples however busy the machine is."""

from importlib.util import find_spec

if find_spec("hypothesis"):  # tests of the examples do without
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "shared_machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("shared_machine")
