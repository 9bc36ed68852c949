/** Creates the senders of notifications. */

import { networkInterfaces } from 'node:os'
import type { AlertsOptions } from '../alerts/alerts.ts'
import { queueMail } from '../auth/mail/outbox-rows.ts'
import { createSecretBox } from '../auth/secret-box.ts'
import { createBrokerPublisher } from '../ingest/mqtt/broker-session.ts'
import { brokerAddressOf } from '../ingest/mqtt/mqtt.ts'
import type { DataDirectory } from '../store/data-directory.ts'
import type { Log } from '../store/log.ts'
import type { Clock } from './clock.ts'
import type { ServiceAccounts } from './open-accounts.ts'
import type { Config } from './settings/config.ts'

interface DeliveryParts {
  directory: Pick<DataDirectory, 'secret'>
  accounts: Pick<ServiceAccounts, 'accounts' | 'sendMail'>
  clockMs: Clock
}

export function alertDelivery(
  config: Config,
  log: Log,
  { directory, accounts: { accounts, sendMail }, clockMs }: DeliveryParts,
): AlertsOptions['deliver'] {
  return {
    box: createSecretBox(directory.secret('tenant-key'), 'alert channels'),
    send: sendMail,
    hasMailServer: config.SMTP_URL !== undefined,
    async recipientOf(id) {
      const account = await accounts.find(id)
      if (account === undefined) return undefined
      const { email, emailVerifiedMs, role, isActive } = account
      return { email, isVerified: emailVerifiedMs !== null, isAdministrator: role !== 'user', isActive }
    },
    async queueOwnerMail(transaction, owner, channelName) {
      const account = owner === null ? undefined : await accounts.find(owner)
      if (owner === null || account === undefined) {
        log.warn({ channel: channelName }, 'channel of alerts disabled: deliveries have failed for days')
        return
      }
      const { email } = account
      await queueMail(transaction, { kind: 'alert-channel-disabled', email, accountId: owner, nowMs: clockMs() })
    },
    publish: publisherOf(config),
    targetsAllowed: config.ALERT_TARGETS_ALLOWED ?? [],
    ownAddresses: () =>
      Object.values(networkInterfaces()).flatMap(addresses => addresses?.map(({ address }) => address) ?? []),
  }
}

function publisherOf(config: Config): AlertsOptions['deliver']['publish'] {
  const address = brokerAddressOf(config)
  return address && createBrokerPublisher(address)
}
