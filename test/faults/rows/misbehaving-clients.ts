/** Row 18: clients that leave in the middle, say nothing more, or send a byte at a time. Never is half a row stored. */

import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { experiment, type Harness, type TestBed } from '../experiment.ts'
import { openLedger } from '../ledger.ts'
import { fieldsOf, putRequest } from '../requests.ts'
import type { Tally } from '../tally.ts'

/** Far behind those of the load. */
const sequenceFrom = 500_000_000
const slowBytes = 40

export async function misbehavingClients(harness: Harness, tally: Tally, seed: number, cycles: number): Promise<void> {
  for (let cycle = 0; cycle < cycles; cycle++) {
    await experiment(harness, { seed: seed + cycle, tally }, async bed => {
      const ledger = openLedger(join(bed.folder, 'ledger'))
      const sockets: Socket[] = []
      const attempts = 60
      for (let index = 0; index < attempts; index++) {
        sockets.push(await beRude(bed, ledger, sequenceFrom + index, index % 3))
        await sleep(20)
      }
      const { status } = await bed.service.ready()
      if (status === 'unavailable') tally.problems.push('misbehaving clients made the service unavailable')
      for (const socket of sockets) socket.destroy()
      ledger.close()
      tally.notes.push(`${attempts} requests cut at random, held open or dripped`)
    })
  }
}

async function beRude(bed: TestBed, ledger: ReturnType<typeof openLedger>, sequence: number, way: number) {
  const device = bed.devices[3]
  if (device === undefined) throw new Error('there are no devices')
  const body = JSON.stringify(fieldsOf(device.name, sequence, undefined))
  const request = putRequest(device.name, device.password, body)
  ledger.attempt({ sequence, device: device.name, kind: 'live', timeMs: undefined })
  const socket = connect({ host: '127.0.0.1', port: bed.service.port, noDelay: true })
  socket.on('error', () => undefined)
  await new Promise(resolve => socket.once('connect', resolve))
  const cutAt = bed.random.below(request.length + 1)
  if (way === 0) {
    socket.write(request.slice(0, cutAt))
    socket.resetAndDestroy()
  } else if (way === 1) {
    // Its sending side is closed in the middle, and it waits for an answer.
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
