/** Starts the parts of a process one after the other, and closes them in the opposite order. */

export interface Service {
  url: string
  /** Stops all started parts. Idempotent. */
  close(): Promise<void>
}

/** `open` resolves to the listening address, and reports each part's close function as soon as it is open. */
export async function startParts(open: (onOpen: (close: () => unknown) => void) => Promise<string>): Promise<Service> {
  const opened: (() => unknown)[] = []
  let closing: Promise<void> | undefined
  const closeAll = async () => {
    const faults: unknown[] = []
    for (const close of opened.toReversed()) {
      try {
        await close()
      } catch (error) {
        faults.push(error)
      }
    }
    // One part that fails to close must not keep the others open.
    if (faults.length > 0) throw new AggregateError(faults, 'not everything could be closed')
  }
  try {
    const url = await open(close => opened.push(close))
    return {
      url,
      close() {
        closing ??= closeAll()
        return closing
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}
