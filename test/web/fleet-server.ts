/** The web pages beside a made answer for a fleet of any size, without databases. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { webFamily } from '../../api/web/web.ts'
import { createTagMatcher } from '../../auth/devices/tag.ts'
import type { Fleet, FleetDevice, FleetGroups, FleetMap, FleetTrends } from '../../query/live/fleet-shape.ts'
import { liveStates } from '../../query/live/live-state.ts'
import { buildWeb } from '../../web/build.ts'
import { createApp } from '../support/app.ts'
import type { TestHooks } from '../support/databases.ts'

type FleetServer = Awaited<ReturnType<typeof openFleetServer>>

export const noInsights = {
  findings: [],
  findings_total: 0,
  batteries: [],
  batteries_total: 0,
  outliers: [],
  outliers_total: 0,
  gauges_left_out: 0,
}

/** The service's answer as in `docs/`. `events`: whether the server has any. */
export async function openFleetServer(t: TestHooks, devices: FleetDevice[], { events = true } = {}) {
  await buildWeb()
  const listeners: Listeners = new Set()
  const server = {
    url: '',
    /** Answers are made of these and of `more`. A test changes both. */
    devices,
    more: {} as object,
    marks: [] as FleetMap['marks'],
    /** Undefined while QuestDB is away. */
    insights: noInsights as object | undefined,
    /** `/api/fleet` is answered by it. */
    refusal: undefined as { status: number; body: object } | undefined,
    requests: [] as string[],
    /** Sends an event to each page that listens. */
    send(event: string, data: object): void {
      for (const listener of listeners) listener.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    },
    listening: () => listeners.size,
    /** Stops like a killed server. Returns a function that starts it again. */
    async kill() {
      await close()
      return () => open(Number(new URL(server.url).port))
    },
  }
  let close = async () => {}
  async function open(port: number): Promise<void> {
    const app = createApp(webFamily())
    serveFleet(app, server)
    if (events) serveEvents(app, listeners)
    server.url = await app.listen({ host: '127.0.0.1', port })
    close = async () => {
      for (const listener of listeners) listener.destroy()
      await app.close()
    }
  }
  await open(0)
  t.teardown(() => close())
  return server
}

function serveFleet(app: FastifyInstance, server: FleetServer): void {
  app.get('/api/fleet', (request: FastifyRequest<{ Querystring: FleetQuery }>, reply) => {
    server.requests.push(request.url)
    if (server.refusal !== undefined) return reply.code(server.refusal.status).send(server.refusal.body)
    return reply.send({ ...pageOf(server.devices, request.query), ...server.more })
  })
  app.get('/api/fleet/insights', (_request, reply) => {
    if (server.insights === undefined) return reply.code(503).send({ status: 'database unavailable' })
    return reply.send({ generated_at: Date.now(), ...server.insights })
  })
  app.get('/api/fleet/groups', (request: FastifyRequest<{ Querystring: FleetQuery & { key: string } }>, reply) => {
    server.requests.push(request.url)
    return reply.send(groupsOf(server.devices, request.query))
  })
  app.get('/api/fleet/map', (request, reply) => {
    server.requests.push(request.url)
    return reply.send(mapWith(server.marks))
  })
  app.get('/api/fleet/trends', (request: FastifyRequest<{ Querystring: { device: string | string[] } }>, reply) => {
    server.requests.push(request.url)
    const names = [request.query.device].flat()
    const devices = server.devices.filter(({ device }) => names.includes(device)).flatMap(madeTrend)
    return reply.send({ generated_at: Date.now(), until: Date.now(), devices } satisfies FleetTrends)
  })
}

export type Listeners = Set<FastifyReply['raw']>

export function serveEvents(app: FastifyInstance, listeners: Listeners): void {
  app.get('/api/events', (_request, reply) => {
    reply.hijack()
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' }).write(':\n\n')
    listeners.add(reply.raw)
    reply.raw.once('close', () => listeners.delete(reply.raw))
  })
}

interface FleetQuery {
  limit?: string
  after?: string
  order?: string
  tag?: string | string[]
}

function pageOf(all: readonly FleetDevice[], { limit = '1000', after, order = 'state', tag = [] }: FleetQuery): Fleet {
  const isTagged = createTagMatcher([tag].flat())
  const devices = all.filter(({ tags = [] }) => isTagged({ tags }))
  const rankOf = ({ state, device }: FleetDevice) => `${order === 'state' ? liveStates.indexOf(state) : ''}:${device}`
  const sorted = devices.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1))
  const from = after === undefined ? 0 : sorted.findIndex(device => rankOf(device) > after)
  const page = sorted.slice(from, from + Number(limit))
  const last = page.at(-1)
  return {
    generated_at: Date.now(),
    time_zone: 'Europe/Berlin',
    counts: countsOf(devices),
    devices: page,
    next: last === undefined || last === sorted.at(-1) ? null : rankOf(last),
  }
}

function countsOf(devices: readonly FleetDevice[]): Fleet['counts'] {
  const counts = liveStates.map(state => [state, devices.filter(one => one.state === state).length])
  return Object.fromEntries(counts) as Fleet['counts']
}

function groupsOf(all: readonly FleetDevice[], { key, tag = [] }: FleetQuery & { key: string }): FleetGroups {
  const isTagged = createTagMatcher([tag].flat())
  const devices = all.filter(({ tags = [] }) => isTagged({ tags }))
  const byTag = Map.groupBy(devices, ({ tags = [] }) => tags.find(one => one.startsWith(`${key}:`)) ?? '')
  const groups = [...byTag].flatMap(([tag, found]) => (tag === '' ? [] : [{ tag, counts: countsOf(found) }]))
  const untagged = countsOf(byTag.get('') ?? [])
  return { generated_at: Date.now(), key, groups, groups_total: groups.length, others: countsOf([]), untagged }
}

function mapWith(marks: FleetMap['marks']): FleetMap {
  const extents = marks.map(({ extent }) => extent)
  const extent = {
    west: Math.min(...extents.map(({ west }) => west)),
    south: Math.min(...extents.map(({ south }) => south)),
    east: Math.max(...extents.map(({ east }) => east)),
    north: Math.max(...extents.map(({ north }) => north)),
  }
  return {
    generated_at: Date.now(),
    extent: marks.length === 0 ? null : extent,
    marks,
    unplaced: { ...countsOf([]), fresh: 3 },
  }
}

export const noCounts = { silent: 0, late: 0, never: 0, fresh: 0, off: 0 }

export function markAt(
  latitude: number,
  longitude: number,
  device: string,
  more: Partial<FleetMap['marks'][number]> = {},
): FleetMap['marks'][number] {
  const extent = { west: longitude, south: latitude, east: longitude, north: latitude }
  const devices = [{ device, location_short: 'Shed', state: 'fresh' as const }]
  return { latitude, longitude, extent, counts: { ...noCounts, fresh: 1 }, devices, ...more }
}

/** Returns this many devices in all states. */
export function madeDevices(count: number): FleetDevice[] {
  return Array.from({ length: count }, (_, index) => madeDevice(index))
}

const places = ['Porch', 'Greenhouse', 'Cold store 2', 'Roof, north side', 'Cellar', 'Server room', 'Orchard']

function madeDevice(index: number): FleetDevice {
  const chance = (index * 7919) % 100
  const state = chance < 3 ? 'silent' : chance < 8 ? 'late' : chance < 10 ? 'never' : chance < 96 ? 'fresh' : 'off'
  const ageMs = { silent: 9_000_000, late: 400_000, never: 0, fresh: 8_000, off: 90_000_000 }[state]
  const values = {
    temperature: 12 + (chance % 17) + 0.4,
    humidity: 40 + (chance % 50),
    pressure: 990 + (chance % 30) + 0.2,
  }
  return {
    device: `sensor-${String(index).padStart(5, '0')}`,
    location_short: places[index % places.length] ?? '',
    state,
    last_seen: state === 'never' ? null : Date.now() - ageMs * (1 + (chance % 9)),
    expected_interval_seconds: state === 'never' ? null : 10,
    values: state === 'fresh' || state === 'late' ? { ...values, ...batteryOf(index) } : {},
    hours: Array.from({ length: 24 }, (_, hour) => letterOf(state, index, hour)).join(''),
  }
}

function madeTrend({ device, values }: FleetDevice): FleetTrends['devices'] {
  const { temperature } = values
  if (temperature === undefined) return []
  const slope = [0.2, 0, -0.2][Math.floor(temperature) % 3] ?? 0
  const means = Array.from({ length: 24 }, (_, hour) => (hour === 5 ? null : temperature - slope * (24 - hour)))
  const trend = slope === 0 ? 'steady' : slope > 0 ? 'rising' : 'falling'
  return [{ device, metric: 'temperature', means, change: 3 * slope, trend }]
}

function batteryOf(index: number): FleetDevice['values'] {
  if (index % 3 === 0) return { battery_percentage: (index * 31) % 101 }
  return index % 3 === 1 ? { battery_voltage: 3.2 + (index % 10) / 10 } : {}
}

function letterOf(state: FleetDevice['state'], index: number, hour: number): string {
  if (state === 'never') return '-'
  if (state === 'off' || (state === 'silent' && hour > 18)) return 'A'
  if (hour < ((index * 13) % 40) - 30) return '-'
  return 'DDDDDDDDDCDDDDBDDDDD'[(index * 3 + hour * 7) % 20] ?? 'D'
}
