"""A plan's edges seen from the consumers, and an order in which it can run."""

from __future__ import annotations

from drystone_base.executor.plan import Kind, Plan

__all__ = ["Wiring", "order"]


class Wiring:
    """A plan's edges seen from the consumers: values, controls, and an order to run in.

    ``order`` leaves out fetches. ``inputs[k]`` holds values; ``controls[k]`` places in the order.
    """

    def __init__(self, plan: Plan) -> None:
        count = len(plan.instructions)
        self.order = order(plan)
        self.inputs: list[list[int]] = [[-1] * i.input_count for i in plan.instructions]
        self.controls: list[list[int]] = [[] for _ in range(count)]
        self.reads_reference = [False] * count
        place = {k: at for at, k in enumerate(self.order)}
        value = len(plan.feeds)
        for feed, places in enumerate(plan.feeds):
            for consumer, slot in places:
                self.inputs[consumer][slot] = feed
        for k in self.order:
            self._outputs(plan, k, value)
            value += plan.instructions[k].output_count
            for consumer in plan.instructions[k].control_edges:
                self.controls[consumer].append(place[k])

    def _outputs(self, plan: Plan, k: int, first: int) -> None:
        instruction = plan.instructions[k]
        for output, consumer, slot in instruction.edges:
            self.inputs[consumer][slot] = first + output
            types = instruction.output_types
            if types and types[output].ref and slot in plan.instructions[consumer].deref:
                self.reads_reference[consumer] = True


def order(plan: Plan) -> list[int]:
    """Instructions but fetches, so that each comes after what it needs; back edges are ignored."""
    missing = [i.input_count + i.control_count for i in plan.instructions]
    for places in plan.feeds:
        for consumer, _ in places:
            missing[consumer] -= 1
    for instruction in plan.instructions:
        if instruction.kind is Kind.NEXT_ITERATION:
            for _, consumer, _ in instruction.edges:
                missing[consumer] -= 1
    ready = [k for k in range(len(missing) - 1, -1, -1) if missing[k] <= 0]
    found: list[int] = []
    while ready:
        k = ready.pop()
        instruction = plan.instructions[k]
        if instruction.kind is not Kind.FETCH:
            found.append(k)
        back = instruction.kind is Kind.NEXT_ITERATION
        consumers = [] if back else [c for _, c, _ in instruction.edges]
        for consumer in reversed([*consumers, *instruction.control_edges]):
            missing[consumer] -= 1
            if missing[consumer] == 0:
                ready.append(consumer)
    return found
