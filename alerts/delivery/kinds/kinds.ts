/** The kinds of channels. Their settings are in alerts/core/channel.ts. */

import type { ChannelKindName } from '../../core/channel.ts'
import { codeOf, delivered, failed } from '../attempt.ts'
import { email } from './email.ts'
import type { ChannelKind, Published } from './kind.ts'
import { alertmanager, apprise, ntfy, slack, webhook } from './posted.ts'

const mqtt: ChannelKind<'mqtt'> = {
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

type ChannelKinds = { readonly [Name in ChannelKindName]: ChannelKind<Name> }

export const channelKinds: ChannelKinds = { webhook, email, alertmanager, ntfy, slack, apprise, mqtt }

/** The options of the notifications of a kind. Undefined for an unknown kind, such as one of a later version. */
export function kindOf(name: string): { wantsAll: boolean; refreshMs: number | undefined } | undefined {
  if (!Object.hasOwn(channelKinds, name)) return undefined
  const { wantsAll = false, refreshMs } = channelKinds[name as ChannelKindName]
  return { wantsAll, refreshMs }
}
