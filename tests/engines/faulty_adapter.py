"""The adapter for vLLM with a historic fault put back by a subclass: what the driver must notice on the real scheduler.

Started by the tests in the engine's own Python, with the fault's name. Each fault is one that an engine once had:

free-keeps-count     the block table is dropped, but the reference counts stay (a leak)
finished-runs-on     a finished request stays in the running list
progress-kept        preemption does not reset the progress
block-handed-twice   a held block is put into the free queue
stop-told-twice      the terminal message is sent twice
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "adapters" / "vllm"))

import adapter


def put_back(fault: str) -> None:
    """Replace vLLM's scheduler by a subclass with the fault, before the adapter takes it."""
    import vllm.v1.core.sched.scheduler as module

    genuine = module.Scheduler

    class Faulty(genuine):  # type: ignore[misc, valid-type]
        def _free_blocks(self, request: Any) -> None:
            if fault != "free-keeps-count":
                super()._free_blocks(request)
                return
            manager = self.kv_cache_manager.coordinator.single_type_managers[0]
            manager.req_to_blocks.pop(request.request_id, None)
            manager.num_cached_block.pop(request.request_id, None)
            del self.requests[request.request_id]

        def schedule(self) -> Any:
            before = {r.request_id: r.num_computed_tokens for r in self.running}
            step = super().schedule()
            for request in self.waiting if fault == "progress-kept" else ():
                request.num_computed_tokens = before.get(request.request_id, request.num_computed_tokens)
            if fault == "block-handed-twice" and self.running:
                held = self.kv_cache_manager.coordinator.single_type_managers[0].req_to_blocks
                last = held[self.running[0].request_id][-1]
                queue = self.kv_cache_manager.block_pool.free_block_queue
                if last not in queue.get_all_free_blocks():
                    queue.append(last)
            return step

        def update_from_output(self, step: Any, output: Any) -> Any:
            running = list(self.running)
            outputs = super().update_from_output(step, output)
            if fault == "finished-runs-on":
                self.running.extend(r for r in running if r.is_finished())
            for client in outputs.values() if fault == "stop-told-twice" else ():
                client.outputs.extend([o for o in client.outputs if o.finish_reason is not None])
            return outputs

    # States are pickled by the name of their class.
    Faulty.__qualname__, Faulty.__module__ = "Faulty", module.__name__
    module.Faulty = module.Scheduler = Faulty


class FaultyAdapter(adapter.Adapter):  # type: ignore[misc]
    """Puts the fault back when the engine is first needed."""

    ready = False

    def begin(self, configuration: str, world: dict[str, Any]) -> Any:
        if not FaultyAdapter.ready:
            put_back(sys.argv[1])
            FaultyAdapter.ready = True
        return super().begin(configuration, world)


if __name__ == "__main__":
    adapter.Adapter = FaultyAdapter
    sys.exit(adapter.main())
