/** The thread's end of a body's port. */

import type { MessagePort } from 'node:worker_threads'
import { bug } from '../../store/limits/bug.ts'
import { BodyFault } from './body-fault.ts'
import type { BodyCommand, BodyPiece, BodyTimes, FromThread, ToThread } from './body-messages.ts'
import { Mailbox } from './mailbox.ts'

/** The main thread has closed the port and abandons the body. */
export class Abandoned extends Error {}

export class BodyChannel {
  readonly #port: MessagePort
  readonly #pieces = new Mailbox<BodyPiece>()
  readonly #commands = new Mailbox<BodyCommand>()
  #times: BodyTimes = { nowMs: 0, earliestMs: undefined }

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', ({ times, ...message }: ToThread) => {
      this.#times = times
      if (isCommand(message)) this.#commands.put(message)
      else this.#pieces.put(message)
    })
    port.on('close', () => {
      const abandoned = new Abandoned('the body is not needed any more')
      this.#pieces.close(abandoned)
      this.#commands.close(abandoned)
    })
  }

  /** The last times from the main thread. */
  get times(): BodyTimes {
    return this.#times
  }

  /** Waits for a command of one of these kinds. */
  async command<Kind extends BodyCommand['kind']>(...kinds: Kind[]): Promise<Extract<BodyCommand, { kind: Kind }>> {
    const command = await this.#commands.take()
    if (!(kinds as string[]).includes(command.kind)) throw bug(`${command.kind} came instead of ${kinds.join(' or ')}`)
    return command as Extract<BodyCommand, { kind: Kind }>
  }

  send(message: FromThread, transfer: ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer)
  }

  /** The body as it arrives: a piece arrives while the previous one is read. */
  async *body(): AsyncGenerator<Uint8Array> {
    this.send({ kind: 'more' })
    for (;;) {
      const piece = await this.#pieces.take()
      if (piece.kind === 'end') return
      if (piece.kind === 'broken') throw new BodyFault(piece.code, piece.reason)
      this.send({ kind: 'more' })
      yield piece.bytes
    }
  }

  close(): void {
    this.#port.close()
  }
}

const commandKinds: ReadonlySet<string> = new Set(['next', 'texts', 'series'] satisfies BodyCommand['kind'][])

function isCommand(message: BodyPiece | BodyCommand): message is BodyCommand {
  return commandKinds.has(message.kind)
}
