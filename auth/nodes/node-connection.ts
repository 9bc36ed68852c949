/** The connection of a node: it hears of changes, and reads them whatever else the service asks of PostgreSQL. */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { feedChannel } from './feed-rows.ts'

export interface NodeConnection {
  /** With a time limit for each statement. Connects where it has to. */
  use<Result>(work: (database: Transaction) => Promise<Result>): Promise<Result>
  close(): Promise<void>
}

export interface NodeConnectionOptions {
  connect: () => Promise<pg.Client>
  answerMsMax: number
  /** Told that something was committed, or may have been. */
  heard: () => void
  /** Further channels, and who hears them. */
  channels?: Readonly<Record<string, (payload: string) => void>>
}

/** Of one user at a time; one that fails takes the connection with it. */
export function createNodeConnection(options: NodeConnectionOptions): NodeConnection {
  const { connect, answerMsMax, heard, channels = {} } = options
  let client: pg.Client | undefined

  async function connected(): Promise<pg.Client> {
    if (client !== undefined) return client
    const made = await connect()
    try {
      made.on('notification', ({ channel, payload = '' }) => (channels[channel] ?? heard)(payload))
      made.once('end', () => {
        if (client === made) client = undefined
        heard()
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
    // A server that is frozen answers no farewell.
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
