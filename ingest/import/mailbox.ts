/** Messages in the order of arrival, for one reader that waits for them. */

export class Mailbox<Message> {
  #messages: Message[] = []
  #waiting: { resolve: (message: Message) => void; reject: (error: Error) => void } | undefined
  #closedBy: Error | undefined

  put(message: Message): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting === undefined) this.#messages.push(message)
    else waiting.resolve(message)
  }

  take(): Promise<Message> {
    const message = this.#messages.shift()
    if (message !== undefined) return Promise.resolve(message)
    if (this.#closedBy !== undefined) return Promise.reject(this.#closedBy)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  /** A waiting or later reader gets the error. */
  close(error: Error): void {
    this.#closedBy ??= error
    this.#waiting?.reject(this.#closedBy)
    this.#waiting = undefined
  }
}
