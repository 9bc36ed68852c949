/** JSON to a topic of the outside broker; retained, one message for each device below the topic. */

import { codeOf, delivered, failed } from '../attempt.ts'
import type { ChannelKind, Published } from './kind.ts'

export const mqtt: ChannelKind<'mqtt'> = {
  secrets: [],
  hasUrl: false,
  wantsAll: true,
  isOfService: true,
  async deliver({ message, webhookId, settings: { topic, retain }, tools }, signal) {
    if (tools.publish === undefined) return failed('no broker is configured: set MQTT_BROKER_URL', 0)
    const { alerts, ...common } = message
    const payload = (extra: object) => JSON.stringify({ id: webhookId, ...common, ...extra })
    // Names of devices are levels of topics as they are.
    const messages: Published[] = retain
      ? alerts.map(alert => ({
          topic: `${topic}/${alert.device ?? 'service'}`,
          payload: payload({ alert }),
          retain: true,
        }))
      : [{ topic, payload: payload({ alerts }), retain: false }]
    const startedMs = performance.now()
    const passedMs = () => Math.round(performance.now() - startedMs)
    try {
      await tools.publish(messages, signal)
      return delivered(passedMs())
    } catch (error) {
      return failed(signal.aborted ? 'no answer in time' : codeOf(error), passedMs())
    }
  },
}
