/** Row 18: clients that disconnect in the middle of a request, stall, or are slow. */

import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { eachCycle, type TestBed } from '../experiment.ts'
import { type LedgerWriter, openLedger } from '../ledger.ts'
import type { Login } from '../loads.ts'
import { fieldsOf, putRequest } from '../requests.ts'

/** These numbers are far above those of the load. */
const rudeFrom = 500_000_000

const openLedgerOf = ({ folder }: TestBed): LedgerWriter => openLedger(join(folder, 'ledger'))
const putOf = ({ name, password }: Login, sequence: number): string =>
  putRequest(name, password, JSON.stringify(fieldsOf(name, sequence, undefined)))

const slowBytes = 40

/** Clients disconnect, stall, or send one byte at a time. A partial row must never be stored. */
export const misbehavingClients = eachCycle({}, async bed => {
  const ledger = openLedgerOf(bed)
  const sockets: Socket[] = []
  const attempts = 60
  for (let index = 0; index < attempts; index++) {
    sockets.push(await beRude(bed, ledger, rudeFrom + index, index % 3))
    await sleep(20)
  }
  const { status } = await bed.service.ready()
  if (status === 'unavailable') bed.tally.problems.push('misbehaving clients made the service unavailable')
  for (const socket of sockets) socket.destroy()
  ledger.close()
  bed.tally.notes.push(`${attempts} requests cut at random, held open or dripped`)
})

async function beRude(bed: TestBed, ledger: LedgerWriter, sequence: number, way: number) {
  const device = bed.devices[3] as Login
  const request = putOf(device, sequence)
  ledger.attempt({ sequence, device: device.name, kind: 'live', timeMs: undefined })
  const socket = connect({ host: '127.0.0.1', port: bed.service.port, noDelay: true })
  socket.on('error', () => undefined)
  await new Promise(resolve => socket.once('connect', resolve))
  const cutAt = bed.random.below(request.length + 1)
  if (way === 0) {
    socket.write(request.slice(0, cutAt))
    socket.resetAndDestroy()
  } else if (way === 1) {
    // The client closes its sending side in the middle and waits for a response.
    socket.end(request.slice(0, cutAt))
  } else {
    void drip(socket, request, cutAt)
  }
  return socket
}

async function drip(socket: Socket, request: string, from: number): Promise<void> {
  const start = Math.max(0, Math.min(from, request.length - slowBytes))
  socket.write(request.slice(0, start))
  for (let at = start; at < request.length && !socket.destroyed; at++) {
    socket.write(request.slice(at, at + 1))
    await sleep(50)
  }
}
