/** A notification as the outbox makes them. */

import type { Message, MessageAlert } from '../../alerts/core/message.ts'

export function messageAlert(more: Partial<MessageAlert> = {}): MessageAlert {
  return {
    id: '7',
    state: 'firing',
    device: 'cellar-1',
    location: 'Cellar',
    metric: 'temperature',
    value: 9.1,
    unit: '°C',
    fired_at: '2026-05-01T10:00:00.000Z',
    resolved_at: null,
    acknowledged_by: null,
    url: 'https://barograph.example/device/cellar-1',
    ...more,
  }
}

export function alertMessage(more: Partial<Message> = {}): Message {
  return {
    type: 'alert.firing',
    timestamp: '2026-05-01T10:00:30.000Z',
    rule: {
      id: 3,
      name: 'Freezer too warm',
      severity: 'critical',
      note: 'Close the door',
      condition: { kind: 'above', metric: 'temperature', value: 8, hysteresis: 1 },
    },
    group: null,
    counts: { firing: 1, resolved: 0, flapping: 0, silenced: 0 },
    devices_left_out: 0,
    alerts: [messageAlert()],
    url: 'https://barograph.example/alerts?rule=3',
    ...more,
  }
}
