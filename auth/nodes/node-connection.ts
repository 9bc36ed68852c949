/** Connection of a node that receives notifications and reads changes, independent of the service's other queries. */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { feedChannel } from './feed-rows.ts'

export interface NodeConnection {
  /** Connects if necessary. Each statement has a time limit. */
  use<Result>(work: (database: Transaction) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export interface NodeConnectionOptions {
  connect: () => Promise<pg.Client>
  answerMsMax: number
  /** Called after a notification, and after a reconnection, which may have missed one. */
  notified: () => void
  /** Further channels with their listeners. */
  channels?: Readonly<Record<string, (payload: string) => void>>
}

/** One caller uses it at a time. A failure closes the connection. */
export function createNodeConnection(options: NodeConnectionOptions): NodeConnection {
  const { connect, answerMsMax, notified, channels = {} } = options
  let client: pg.Client | undefined

  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client
    const made = await connect()
    try {
      made.on('notification', ({ channel, payload = '' }) => (channels[channel] ?? notified)(payload))
      made.once('end', () => {
        if (client === made) client = undefined
        notified()
      })
      const text = [feedChannel, ...Object.keys(channels)].map(channel => `LISTEN ${channel}`).join('; ')
      await made.query({ text, query_timeout: answerMsMax } as pg.QueryConfig)
    } catch (error) {
      void made.end().catch(() => undefined)
      throw error
    }
    client = made
    return made
  }

  async function close(): Promise<void> {
    const open = client
    client = undefined
    open?.removeAllListeners('notification')
    // A frozen server does not answer the termination.
    if (open !== undefined) void open.end().catch(() => undefined)
  }

  return {
    async use(work) {
      const used = await connected()
      const query = (text: string, values: unknown[]) =>
        used.query({ text, values, query_timeout: answerMsMax } as pg.QueryConfig)
      try {
        return await work({ query } as unknown as Transaction)
      } catch (error) {
        await close()
        throw error
      }
    },
    close,
  }
}
