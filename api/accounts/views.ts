/** Lists, adds, changes and removes the saved views of the signed-in account. */

import { z } from 'zod'
import { Panels } from '../../auth/views/panel.ts'
import { type SavedView, View, viewNameLengthMax, viewsPerAccountMax } from '../../auth/views/view.ts'
import { viewAddressIn, viewAddressLengthMax } from '../../auth/views/view-address.ts'
import { changeView, deleteView, listViews, saveView } from '../../auth/views/views.ts'
import { type AccountService, accountOf } from './account-service.ts'
import { boolean, checkedBy, integer, record, refine, text } from './kit/fields.ts'
import { type AccountOperation, operation } from './kit/operation.ts'
import { missing } from './kit/validation.ts'
import { isoTime } from './schemas.ts'

const name = () =>
  refine(text({ min: 1, max: viewNameLengthMax }), given => (given.trim() === '' ? 'the name is blank' : undefined))

const Address = z
  .string()
  .min(1)
  .max(viewAddressLengthMax)
  .meta({ description: 'The path and the query of a page of the app, as `/compare?a=porch&b=roof`' })
  .transform((given, context) => {
    const address = viewAddressIn(given)
    if (address !== undefined) return address.text
    context.issues.push({ code: 'custom', message: 'the address is not one of a page of the app', input: given })
    return z.NEVER
  })

const panels = () => checkedBy(Panels)

const SaveViewRequest = record('SaveViewRequest', {
  name: name(),
  address: checkedBy(Address).optional(),
  panels: panels().optional(),
  is_start: boolean().optional(),
}).superRefine((given, context) => {
  if (given.address !== undefined || given.panels !== undefined) return
  context.addIssue({ code: 'custom', params: { fault: missing, input: given }, path: ['address'] })
})

const ChangeViewRequest = record('ChangeViewRequest', {
  name: name().optional(),
  panels: panels().optional(),
  is_start: boolean().optional(),
})

const ViewPath = record('ViewPath', { view_id: integer() })

export function viewOperations({ accounts, viewLinks }: AccountService): AccountOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/me/views',
      name: 'list_my_views',
      summary: 'The saved views of the current user',
      permission: 'account.manage',
      success: { status: 200, description: 'The views, by name', json: z.array(View) },
      refusals: ['UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE'],
      async handle({ principal }) {
        const views = await listViews(accounts, accountOf(principal))
        return { ok: true, value: views.map(viewAnswer) }
      },
    }),
    operation({
      method: 'POST',
      path: '/me/views',
      name: 'save_my_view',
      summary: 'Save the address of a page, or a dashboard, under a name',
      description: `A dashboard has \`panels\` and no \`address\`: the answer has its address. An account has at most ${viewsPerAccountMax} views, each with a name of its own. With \`is_start\` it takes the place of the start page of before.`,
      permission: 'account.manage',
      body: { json: SaveViewRequest },
      success: { status: 201, description: 'The view', json: View },
      refusals: [...ofChanges, 'TOO_MANY_VIEWS', 'VIEW_NAME_TAKEN'],
      async handle({ principal, body: { name, address, panels = null, is_start: isStart = false } }) {
        const view = { name, address: panels === null ? address : undefined, panels, isStart }
        return answerOf(await saveView(accounts, accountOf(principal), view))
      },
    }),
    operation({
      method: 'PATCH',
      path: '/me/views/:view_id',
      name: 'change_my_view',
      summary: 'Rename a view, change the panels of a dashboard, or make it the start page',
      description:
        'A field that is left out stays. Links to a dashboard show the changed panels. A view of a page keeps its address, unless `panels` make it a dashboard.',
      permission: 'account.manage',
      parameters: { path: ViewPath },
      body: { json: ChangeViewRequest },
      success: { status: 200, description: 'The view', json: View },
      refusals: [...ofChanges, 'VIEW_UNKNOWN', 'VIEW_NAME_TAKEN'],
      async handle({ principal, path: { view_id: id }, body: { name, is_start: isStart, panels } }) {
        const account = accountOf(principal)
        const dashboard = panels && { panels, devices: viewLinks.devicesIn(account, panels) }
        return answerOf(await changeView(accounts, account, id, { name, isStart, panels: dashboard }))
      },
    }),
    operation({
      method: 'DELETE',
      path: '/me/views/:view_id',
      name: 'remove_my_view',
      summary: 'Remove a view',
      permission: 'account.manage',
      parameters: { path: ViewPath },
      success: { status: 204, description: 'It is removed' },
      refusals: [...ofChanges, 'VIEW_UNKNOWN'],
      async handle({ principal, path: { view_id: id } }) {
        const removed = await deleteView(accounts, accountOf(principal), id)
        return removed.ok ? { ok: true } : removed
      },
    }),
  ]
}

const ofChanges = ['UNAUTHENTICATED', 'FORBIDDEN', 'CROSS_SITE', 'TOO_MANY_REQUESTS', 'UNAVAILABLE'] as const

function answerOf(outcome: Awaited<ReturnType<typeof saveView>>) {
  return outcome.ok ? { ok: true as const, value: viewAnswer(outcome.value) } : outcome
}

function viewAnswer({ id, name, address, isStart, panels, createdMs }: SavedView): View {
  return { id, name, address, is_start: isStart, panels, created_at: isoTime(createdMs) }
}
