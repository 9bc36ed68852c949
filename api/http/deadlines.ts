/** Time limits for many things at once: one sweep for all of them costs less than a timer for each. */

export interface Deadlines<Item> {
  /** From now on; an item that is among them already keeps its time. */
  add(item: Item): void
  delete(item: Item): void
  close(): void
}

const sweepMs = 1000

/** Every item is handed to `onExpired` when it has been here for `ms`, or up to a second later. */
export function createDeadlines<Item>(ms: number, onExpired: (item: Item) => void): Deadlines<Item> {
  const expiresAt = new Map<Item, number>()
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [item, deadline] of expiresAt) {
      if (deadline > now) break // They stand in the order in which they came.
      expiresAt.delete(item)
      onExpired(item)
    }
  }, sweepMs)
  sweep.unref()
  return {
    add(item) {
      if (!expiresAt.has(item)) expiresAt.set(item, performance.now() + ms)
    },
    delete: item => void expiresAt.delete(item),
    close: () => clearInterval(sweep),
  }
}
