/** Declares the families of the alerts API, which check requests and report problems as the admin API does. */

import type { GuardOptions } from '../admin/guard.ts'
import type { AdminOperation } from '../admin/operation.ts'
import { problemFamily } from '../admin/problem-family.ts'
import { addJsonBody } from '../http/request-body.ts'
import type { PublishedFamily } from '../http/route-family.ts'
import { type AlertOptions, alertOperations } from './alerts.ts'
import { type ChannelOptions, channelOperations } from './channels.ts'
import { type DeliveriesOptions, deliveryOperations } from './deliveries.ts'
import { refuseOthers } from './guard-alerts.ts'
import { type PreviewOperationOptions, previewOperation } from './preview.ts'
import { type RuleImportOptions, ruleFileOperations } from './rule-import.ts'
import { type RuleOptions, ruleOperations } from './rules.ts'
import { type SilenceOptions, silenceOperations } from './silences.ts'

export type AlertsApiOptions = GuardOptions &
  AlertOptions &
  ChannelOptions &
  DeliveriesOptions &
  PreviewOperationOptions &
  RuleImportOptions &
  RuleOptions &
  SilenceOptions

const tag = {
  name: 'alerts',
  description:
    'For people, of their own devices, and for administrators, of all: a session, an API key with the scope alerts, or the ' +
    'local admin token.',
}

export function alertsFamilies(options: AlertsApiOptions): PublishedFamily<AdminOperation>[] {
  const family = (prefix: string, operations: AdminOperation[]) => {
    const groups = [{ operations, prepare: addJsonBody }]
    return problemFamily({ ...options, permission: 'alerts', prefix, tag, groups, prepare: refuseOthers })
  }
  return [
    family('/api/alerts', alertOperations(options)),
    family('/api/alert-rules', [...ruleOperations(options), previewOperation(options), ...ruleFileOperations(options)]),
    family('/api/alert-channels', channelOperations(options)),
    family('/api/alert-deliveries', deliveryOperations(options)),
    family('/api/silences', silenceOperations(options)),
  ]
}
