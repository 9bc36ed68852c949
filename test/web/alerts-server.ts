/** The web pages beside made answers about alerts, without databases. The server refuses the same requests as the service. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Alert } from '../../alerts/core/alert.ts'
import { type Channel, NewChannel } from '../../alerts/core/channel.ts'
import type { Delivery } from '../../alerts/core/delivery.ts'
import type { PreviewAnswer } from '../../alerts/core/preview-answer.ts'
import { NewRule, type Rule } from '../../alerts/core/rule.ts'
import { NewSilence } from '../../alerts/core/silence.ts'
import { webFamily } from '../../api/web/web.ts'
import { buildWeb } from '../../web/build.ts'
import { createApp } from '../support/app.ts'
import type { TestHooks } from '../support/databases.ts'
import { type Listeners, madeDevices, noInsights, serveEvents } from './fleet-server.ts'

type AlertsServer = Awaited<ReturnType<typeof openAlertsServer>>

export async function openAlertsServer(t: TestHooks) {
  await buildWeb()
  const app = createApp(webFamily())
  const listeners: Listeners = new Set()
  const server = {
    url: '',
    isSignedIn: true,
    /** The account is an ordinary user if it is false. */
    isOperator: true,
    alerts: [] as Alert[],
    rules: [] as Rule[],
    channels: [] as Channel[],
    deliveries: [delivery],
    preview: noPreview,
    sent: [] as [method: string, path: string, body: unknown][],
    /** Sends an event of an alert to the pages that listen. */
    tell(alert: Alert): void {
      const event = `event: alert\ndata: ${JSON.stringify({ id: alert.id })}\n\n`
      for (const listener of listeners) listener.write(event)
    },
  }
  app.addHook('onRequest', async (request, reply) => {
    const isOfAlerts = /^\/api\/(?:alert|silences)|^\/v1\/auth/.test(request.url)
    if (!isOfAlerts || server.isSignedIn) return undefined
    return reply.code(401).header('content-type', 'application/problem+json').send({ detail: 'unauthorized' })
  })
  app.addHook('preHandler', async ({ method, url, body }) => {
    if (method !== 'GET') server.sent.push([method, url, body])
  })
  serveAccount(app, server)
  app.get('/api/fleet', () => fleet)
  app.get('/api/fleet/insights', () => noInsights)
  app.get('/api/readings/:device', (request: Asked) => readingsOf(request.query))
  app.get('/api/alerts', ({ query }: Asked) => {
    const states = (query['state'] ?? 'pending,firing,resolved').split(',')
    const fits = ({ state, severity, device, rule_id }: Alert) =>
      states.includes(state) &&
      fitsText(query['rule'], String(rule_id)) &&
      fitsText(query['severity'], severity) &&
      fitsText(query['device'], device)
    return { alerts: server.alerts.filter(fits), next: null }
  })
  app.get('/api/alerts/:id', ({ params }: Asked) => ({
    ...server.alerts.find(({ id }) => id === params['id']),
    events,
  }))
  app.post('/api/alerts/:id/acknowledge', ({ params }: Asked) => {
    const alert = server.alerts.find(({ id }) => id === params['id'])
    return Object.assign(alert ?? {}, { acknowledged_by: 'account 1', acknowledged_at: new Date().toISOString() })
  })
  app.get('/api/alert-rules', () => ({ rules: server.rules, next: null }))
  app.get('/api/alert-rules/:id', ({ params }: Asked) => server.rules.find(({ id }) => String(id) === params['id']))
  app.post('/api/alert-rules', ({ body }, reply) => reply.code(201).send({ id: 9, ...NewRule.parse(body) }))
  app.patch('/api/alert-rules/:id', () => ({}))
  app.post('/api/alert-rules/preview', () => server.preview)
  app.get('/api/alert-channels', () => ({ channels: server.channels, next: null }))
  app.post('/api/alert-channels', ({ body }: Asked, reply) =>
    reply.code(201).send({ id: 5, ...NewChannel.parse(body), secret }),
  )
  serveChannelTests(app, server)
  app.get('/api/silences', () => ({ silences: [], next: null }))
  app.post('/api/silences', ({ body }, reply) => reply.code(201).send({ id: 1, ...NewSilence.parse(body) }))
  serveDeliveries(app, server)
  serveEvents(app, listeners)
  server.url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(async () => {
    for (const listener of listeners) listener.destroy()
    await app.close()
  })
  return server
}

function serveChannelTests(app: FastifyInstance, server: AlertsServer): void {
  app.post('/api/alert-channels/:id/test', ({ params }: Asked) => {
    const notice = server.channels.find(({ id }) => String(id) === params['id'])?.notice
    const isWritten = typeof notice === 'string'
    return {
      outcome: isWritten ? 'written' : 'failed',
      status: isWritten ? null : 500,
      error: null,
      answer: notice ?? '',
      duration_ms: 3,
    }
  })
}

function serveAccount(app: FastifyInstance, server: AlertsServer): void {
  app.get('/auth/session', (_request, reply) => reply.send(server.isSignedIn ? { user: {} } : 'null'))
  const preferences = { language: null, temperature_unit: null, pressure_unit: null, speed_unit: null, time_zone: null }
  app.get('/v1/auth/me/preferences', () => preferences)
  app.get('/v1/auth/me', () => ({ id: 1, email: 'ada@example.com', email_verified: '2026-01-01T00:00:00.000Z' }))
  app.get('/api/admin/accounts/1', (_request, reply) =>
    server.isOperator ? { id: 1, role: 'operator' } : reply.code(403).send({ title: 'forbidden' }),
  )
}

function serveDeliveries(app: FastifyInstance, server: AlertsServer): void {
  app.get('/api/alert-deliveries', () => ({ deliveries: server.deliveries, next: null }))
  app.get('/api/alert-deliveries/:id', () => ({ ...delivery, attempt_list: [attempt], message: {} }))
}

type Asked = FastifyRequest<{ Querystring: Record<string, string>; Params: Record<string, string> }>

const fitsText = (wanted: string | undefined, text: string | null) => wanted === undefined || wanted === text
const secret = 'whsec_c2VjcmV0IG9mIGEgdGVzdCwgMzIgYnl0ZXMgbG9uZw=='
const now = () => new Date().toISOString()
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
const hourMs = 3_600_000
const dayMs = 24 * hourMs

const fleet = {
  generated_at: Date.now(),
  time_zone: 'Europe/Berlin',
  counts: { silent: 0, late: 0, never: 0, fresh: 12, off: 0 },
  devices: madeDevices(12),
  metrics: { co2: { title: 'CO₂', kind: 'gauge', unit: 'ppm', decimals: 0 } },
  next: null,
}

const events = [
  { at: ago(2 * hourMs), kind: 'pending', details: {} },
  { at: ago(hourMs), kind: 'firing', details: {} },
  { at: ago(hourMs - 30_000), kind: 'notified', details: { channel: 'Mail' } },
]

const delivery: Delivery = {
  id: '7',
  webhook_id: 'msg_1',
  channel_id: 1,
  channel: 'Mail',
  rule_id: 1,
  rule: 'Too hot',
  kind: 'firing',
  severity: 'critical',
  state: 'waiting',
  written: false,
  attempts: 2,
  created_at: ago(hourMs),
  due_at: ago(-hourMs),
  ended_at: null,
}
const attempt = {
  at: ago(hourMs),
  status: 500,
  duration_ms: 12,
  error: null,
  answer: '<b>Internal</b> Server Error',
  by_hand: false,
}

const noPreview: PreviewAnswer = {
  supported: true,
  from: ago(30 * dayMs),
  to: now(),
  devices: [],
  devices_left_out: 0,
  total: 0,
  longest_seconds: 0,
  weeks: [],
}

/** A wave a day, by steps. */
function readingsOf({ start = '0', end = '0', step = '3600' }: Record<string, string>) {
  const rows = []
  const stepMs = Number(step) * 1000
  for (let ts = Math.ceil(Number(start) / stepMs) * stepMs; ts < Number(end); ts += stepMs) {
    const mean = 22 + 8 * Math.sin((ts / dayMs) * 2 * Math.PI)
    rows.push({ ts, temperature_mean: mean, temperature_min: mean - 1, temperature_max: mean + 1, count: 60 })
  }
  return rows
}

/** One that fires since an hour. */
export function madeAlert(more: Partial<Alert> = {}): Alert {
  return {
    id: '1',
    rule_id: 1,
    rule: 'Too hot',
    severity: 'critical',
    state: 'firing',
    flapping: false,
    device: 'sensor-00001',
    metric: 'temperature',
    value: 31.4,
    note: 'Open the window.',
    opened_at: ago(2 * hourMs),
    fired_at: ago(hourMs),
    resolved_at: null,
    resolved_reason: null,
    acknowledged_by: null,
    acknowledged_at: null,
    silenced_by: null,
    ...more,
  }
}

/** Noon of each of the last days, for five hours. */
export function madePreview(): PreviewAnswer {
  const intervals = Array.from({ length: 29 }, (_, day) => {
    const middleMs = Math.floor(Date.now() / dayMs - 29 + day) * dayMs + 6 * hourMs
    return {
      from: new Date(middleMs - 2.5 * hourMs).toISOString(),
      to: new Date(middleMs + 2.5 * hourMs).toISOString(),
    }
  })
  const device = { device: 'sensor-00001', intervals, count: 29, longest_seconds: 18_000 }
  const weeks = ['2026-W44', '2026-W45', '2026-W46', '2026-W47'].map(week => ({ week, half: 12, count: 7, twice: 3 }))
  const other = { device: 'sensor-00002', intervals: intervals.slice(0, 2), count: 2, longest_seconds: 18_000 }
  return { ...noPreview, devices: [device, other], devices_left_out: 3, total: 31, longest_seconds: 18_000, weeks }
}
