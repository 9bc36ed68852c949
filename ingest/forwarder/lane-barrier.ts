/** Where both lanes meet between two batches: work that needs them idle, with nothing in flight or prepared, runs here. */

import { bug } from '../../store/limits/bug.ts'
import type { FileRetry } from './file-retry.ts'
import type { Sleeper } from './sleeper.ts'

/** Its files are copied, or QuestDB has not what it had. */
type Holder = 'copy' | 'unfit'

const laneCount = 2
const pollMs = 40

export class LaneBarrier {
  readonly #sleeper: Sleeper
  readonly #retry: FileRetry
  /** Drops what a lane has prepared. */
  readonly #onIdle: () => void
  readonly #work: (() => void)[] = []
  #waitingLanes = 0
  readonly #holders = new Set<Holder>()

  constructor(sleeper: Sleeper, retry: FileRetry, onIdle: () => void) {
    this.#sleeper = sleeper
    this.#retry = retry
    this.#onIdle = onIdle
  }

  /** Runs the work when both lanes are idle, once. After a system error it is tried again. */
  add(work: () => void): void {
    this.#work.push(work)
  }

  /** From now on lanes that come here stay, until each holder has released it. */
  hold(holder: Holder): void {
    this.#holders.add(holder)
  }

  release(holder: Holder): void {
    this.#holders.delete(holder)
  }

  /** Each lane comes here between two batches, and goes on when no work is left. */
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

  /** Until both lanes have been idle at one moment, or the forwarder is stopping. */
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
