/** Keeps time limits of many items: one sweep for all costs less than a timer for each. */

export interface Deadlines<Item> {
  /** Starts now. A present item keeps its time. */
  add(item: Item): void
  delete(item: Item): void
  close(): void
}

const sweepMs = 1000

/** Calls `onExpired` for an item after `ms`, or up to a second later. */
export function createDeadlines<Item>(ms: number, onExpired: (item: Item) => void): Deadlines<Item> {
  const expiresAt = new Map<Item, number>()
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const [item, deadline] of expiresAt) {
      if (deadline > now) break // Items are ordered by their deadline.
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
