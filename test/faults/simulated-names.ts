/** The directory of the simulated disk: names as programs see them, and those that a power cut leaves. */

import type { Random } from './seeded-random.ts'
import type { SimulatedFile } from './simulated-file.ts'

/** A name that was given, taken away (no file), or moved from another one. */
interface Change {
  name: string
  file: SimulatedFile | undefined
  from?: string
}

export class SimulatedNames {
  readonly #seen: Map<string, SimulatedFile>
  #durable: Map<string, SimulatedFile>
  #pending: Change[] = []

  constructor(durable = new Map<string, SimulatedFile>()) {
    this.#durable = durable
    this.#seen = new Map(durable)
  }

  list(): string[] {
    return [...this.#seen.keys()]
  }

  get(name: string): SimulatedFile | undefined {
    return this.#seen.get(name)
  }

  change(change: Change): void {
    apply(this.#seen, change)
    this.#pending.push(change)
  }

  sync(): void {
    this.#durable = new Map(this.#seen)
    this.#pending = []
  }

  /** Some of the changes are there, in any combination, and of each file what its own syncs have left. */
  crash(random: Random): SimulatedNames {
    const share = random.pick([0, 0.5, 1])
    const names = new Map(this.#durable)
    for (const change of this.#pending) if (random.chance(share)) apply(names, change)
    return new SimulatedNames(new Map([...names].map(([name, file]) => [name, file.crash(random)])))
  }
}

function apply(names: Map<string, SimulatedFile>, { name, file, from }: Change): void {
  if (from !== undefined) names.delete(from)
  if (file === undefined) names.delete(name)
  else names.set(name, file)
}
