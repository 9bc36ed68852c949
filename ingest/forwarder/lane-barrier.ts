/**
 * The point where both lanes meet between two batches: work that needs them idle, with nothing in flight or prepared, runs here.
 */

import { bug } from '../../store/limits/bug.ts'
import type { FileRetry } from './file-retry.ts'
import type { Sleeper } from './sleeper.ts'

/** Reasons of a hold: files are being copied, or QuestDB lacks earlier rows. */
type Holder = 'copy' | 'unfit'

const laneCount = 2
const pollMs = 40

export class LaneBarrier {
  readonly #sleeper: Sleeper
  readonly #retry: FileRetry
  /** Drops the batches that the lanes have prepared. */
  readonly #onIdle: () => void
  readonly #work: (() => void)[] = []
  #waitingLanes = 0
  readonly #holders = new Set<Holder>()

  constructor(sleeper: Sleeper, retry: FileRetry, onIdle: () => void) {
    this.#sleeper = sleeper
    this.#retry = retry
    this.#onIdle = onIdle
  }

  /** Runs the work once both lanes are idle. It is retried after a system error. */
  add(work: () => void): void {
    this.#work.push(work)
  }

  /** Lanes that arrive wait until each holder has released the barrier. */
  hold(holder: Holder): void {
    this.#holders.add(holder)
  }

  release(holder: Holder): void {
    this.#holders.delete(holder)
  }

  /** Each lane calls this between two batches, and continues when no work is left. */
  async pass(): Promise<void> {
    this.#waitingLanes++
    if (this.#waitingLanes > laneCount) throw bug(`${this.#waitingLanes} of ${laneCount} lanes wait`)
    while ((this.#work.length > 0 || this.#holders.size > 0) && !this.#sleeper.stopped) {
      if (this.#work.length > 0 && this.#waitingLanes === laneCount) {
        await this.#retry.attempt('rewind', () => this.#run())
      } else await this.#sleeper.sleep(pollMs)
    }
    this.#waitingLanes--
  }

  /** Resolves when both lanes were idle at the same time, or the forwarder is stopping. */
  async untilIdle(): Promise<void> {
    let wasIdle = false
    this.add(() => {
      wasIdle = true
    })
    while (!wasIdle && !this.#sleeper.stopped) await this.#sleeper.sleep(pollMs)
  }

  #run(): void {
    this.#onIdle()
    for (let work = this.#work[0]; work !== undefined; work = this.#work[0]) {
      work()
      this.#work.shift()
    }
  }
}
