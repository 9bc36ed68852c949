/** Builds events of alerts and selects their readers. */

import type { FastifyRequest } from 'fastify'
import type { AlertRow } from '../../../alerts/core/alert.ts'
import type { Owner } from '../../../alerts/core/outcome.ts'
import { authorize, type Principal } from '../../../auth/policy.ts'
import { ChangeInDoubt } from '../../../auth/record-cache.ts'
import type { Subscription } from '../../../query/live/events/event-client.ts'
import type { ChangedAlert } from '../../../query/live/events/event-text.ts'
import { isUnavailable } from '../../../store/postgres/postgres-errors.ts'
import type { FindPrincipal } from '../../credentials/find-principal.ts'

export function ownedAlertEvent(alert: AlertRow): ChangedAlert {
  const { id, rule, rule_id, device, state, severity, flapping } = alert
  const at = alert.resolved_at ?? alert.fired_at ?? alert.opened_at
  const acknowledged = alert.acknowledged_at !== null
  return {
    device: alert.device_number,
    owner: alert.owner,
    data: { id, rule, rule_id, device, state, severity, flapping, acknowledged, at },
  }
}

export interface AlertReaderOptions {
  findPrincipal: FindPrincipal
  /** Undefined for an account without a verified address. */
  ownerOf: (principal: Principal) => Owner | undefined
}

/** Finds the alerts that the sender of a request may see. */
export function createAlertReaders({ findPrincipal, ownerOf }: AlertReaderOptions) {
  return async ({ raw }: FastifyRequest): Promise<Subscription['alerts']> => {
    const principal = await findPrincipal(raw).catch(undefinedWhileUnavailable)
    if (principal === undefined || authorize('alerts', principal) !== 'allowed') return undefined
    const who = ownerOf(principal)
    return who && (({ owner }) => who.all || owner === who.account)
  }
}

/** Events of readings continue while PostgreSQL is unavailable. Pages also poll alerts. */
function undefinedWhileUnavailable(error: unknown): undefined {
  if (!isUnavailable(error) && !(error instanceof ChangeInDoubt)) throw error
}
