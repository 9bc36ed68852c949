/**
 * MQTT clients in a separate process: each publishes at QoS 1 and waits for the acknowledgement before the next
 * message. They use plain sockets and prepared packets, because they share the machine with the measured service. The
 * parent sends an `MqttLoadOrder` and gets an `MqttLoadResult`.
 */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'
import { generate } from 'mqtt-packet'

export interface MqttLoadOrder {
  port: number
  seconds: number
  /** One for each client. */
  clients: { device: string; password: string; payload: string }[]
  /** The topic before the device, by default `readings/`. */
  topicPrefix?: string
}

export interface MqttLoadResult {
  acknowledged: number
  elapsedSeconds: number
  p50Ms: number
  p99Ms: number
}

/** PUBACK of message 1. */
const acknowledgement = '40020001'
const welcome = '20020000'

interface Run {
  acknowledged: number
  latencies: RecordableHistogram
  endMs: number
}

async function open(port: number, { device, password }: MqttLoadOrder['clients'][number]): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  socket.write(
    generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: device,
      keepalive: 0,
      username: device,
      password: Buffer.from(password),
    }),
  )
  const [answer] = await once(socket, 'data')
  if (answer.toString('hex') !== welcome) throw new Error(`not let in: ${answer.toString('hex')}`)
  return socket
}

function drive(run: Run, socket: Socket, packet: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let fromMs = 0
    const send = () => {
      fromMs = performance.now()
      socket.write(packet)
    }
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', (bytes: Buffer) => {
      if (bytes.toString('hex') !== acknowledgement) {
        reject(new Error(`not acknowledged: ${bytes.toString('hex')}`))
        return
      }
      const nowMs = performance.now()
      run.acknowledged++
      run.latencies.record(Math.max(1, Math.round((nowMs - fromMs) * 1000)))
      if (nowMs >= run.endMs) socket.end()
      else send()
    })
    send()
  })
}

async function runLoad({ port, seconds, clients, topicPrefix = 'readings/' }: MqttLoadOrder): Promise<MqttLoadResult> {
  const sockets = await Promise.all(clients.map(client => open(port, client)))
  const startedMs = performance.now()
  const run: Run = { acknowledged: 0, latencies: createHistogram(), endMs: startedMs + seconds * 1000 }
  await Promise.all(
    clients.map(({ device, payload }, index) => {
      const topic = `${topicPrefix}${device}`
      const packet = {
        cmd: 'publish' as const,
        topic,
        payload,
        qos: 1 as const,
        messageId: 1,
        dup: false,
        retain: false,
      }
      return drive(run, sockets[index] as Socket, generate(packet))
    }),
  )
  return {
    acknowledged: run.acknowledged,
    elapsedSeconds: (performance.now() - startedMs) / 1000,
    p50Ms: run.latencies.percentile(50) / 1000,
    p99Ms: run.latencies.percentile(99) / 1000,
  }
}

// The parent may be killed.
process.once('disconnect', () => process.exit())
process.on('message', (order: MqttLoadOrder) => {
  runLoad(order).then(
    result => process.send?.(result),
    (error: Error) => {
      process.stderr.write(`${error.stack}\n`)
      process.exit(1)
    },
  )
})
