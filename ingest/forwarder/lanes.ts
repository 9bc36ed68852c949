/** The live lane and the backfill lane behind it, with their shared sender and barrier. */

import type { RecordLayout } from '../journal/record.ts'
import { BackfillLane, type BackfillLaneOptions } from './backfill-lane.ts'
import { BackfillPlanner } from './backfill-planner.ts'
import type { CustomSeries } from './custom-series.ts'
import type { ForwarderFiles } from './forwarder-files.ts'
import { LaneBarrier, LaneSender, type LaneSenderOptions } from './lane-sender.ts'
import { LiveLane, type LiveLaneOptions } from './live-lane.ts'
import { LivePlanner } from './live-planner.ts'

export interface LanesOptions
  extends LaneSenderOptions,
    Pick<LiveLaneOptions, 'disk' | 'paceMs' | 'durableEnd' | 'untilEndMoves' | 'timing'>,
    Pick<BackfillLaneOptions, 'applied'>,
    Omit<ForwarderFiles, 'deadLetters'> {
  layout: RecordLayout
  custom: CustomSeries
  /** Connections of the live lane. The backfill lane has the next one. */
  connectionCount: number
}

export class Lanes {
  readonly sender: LaneSender
  readonly barrier: LaneBarrier
  readonly #live: LiveLane
  readonly #backfill: BackfillLane

  constructor(options: LanesOptions) {
    const { sleeper, retry, tombstones, layout, custom, connectionCount } = options
    this.sender = new LaneSender(options)
    this.barrier = new LaneBarrier(sleeper, retry, () => {
      this.#live.dropPrepared()
      this.#backfill.dropPrepared()
    })
    const shared = { ...options, sender: this.sender, barrier: this.barrier }
    this.#live = new LiveLane({
      ...shared,
      planner: new LivePlanner(layout, connectionCount, custom, tombstones),
    })
    this.#backfill = new BackfillLane({
      ...shared,
      planner: new BackfillPlanner(layout.kind, connectionCount, custom, tombstones),
    })
  }

  /** Resolves when both have stopped. */
  run(): Promise<unknown> {
    return Promise.all([this.#live.run(), this.#backfill.run()])
  }

  close(): void {
    this.#live.close()
    this.#backfill.close()
  }
}
