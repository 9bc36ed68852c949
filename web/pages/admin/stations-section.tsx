/** The stations of the air-quality network: add, private or public, removal. */

import type { StationDetails, StationPage } from '../../../auth/stations/station.ts'
import { addressOf } from '../../client/address.ts'
import { stationPath } from '../../client/routes.ts'
import { useIsOperator } from '../../client/session.ts'
import { AddForm, type FormField } from '../../parts/add-form.tsx'
import { ConfirmedButton } from '../../parts/dialog.tsx'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record, RowButton } from '../../parts/record.tsx'
import type { Actions } from '../../parts/use-actions.tsx'
import { t, tn } from '../../words/words.ts'

const fields: FormField[] = [
  { name: 'sn', label: 'Serial number', isRequired: true },
  { name: 'model', label: 'Model', isRequired: true },
  { name: 'city', label: 'City' },
  { name: 'country', label: 'Country', hint: 'Two letters' },
  { name: 'latitude', label: 'Latitude', kind: 'number' },
  { name: 'longitude', label: 'Longitude', kind: 'number' },
  { name: 'timezone', label: 'Time zone', hint: 'As Europe/Berlin' },
  { name: 'private', label: 'Private', kind: 'check' },
]

export function StationsSection() {
  const mayRemove = useIsOperator()
  return (
    <ListSection
      path="/stations"
      noun={t('stations')}
      counted={count => tn(count, '{count} station.', '{count} stations.')}
      hasSearch={true}
      itemsOf={(page: StationPage) => page.stations}
      keyOf={station => station.sn}
      row={(station, actions) => <StationRow station={station} actions={actions} mayRemove={mayRemove} />}
    >
      {({ isBusy, change }) => (
        <AddForm
          title="Add a station"
          isStrong
          verb="Add"
          fields={fields}
          isBusy={isBusy}
          onSend={async values =>
            (await change('POST', '/stations', values, `${values['sn']} is added.`)) !== undefined
          }
        />
      )}
    </ListSection>
  )
}

interface RowProps {
  station: StationDetails
  actions: Actions
  mayRemove: boolean
}

function StationRow({ station, actions, mayRemove }: RowProps) {
  const { sn, model, city, country, last_data_at } = station
  const isPrivate = station.private
  const path = `/stations/${encodeURIComponent(sn)}`
  const facts = [model, city ?? undefined, country ?? undefined, isPrivate ? 'private' : 'public']
  const done = isPrivate ? `${sn} is public.` : `${sn} is private.`
  return (
    <Record
      name={sn}
      href={addressOf(stationPath(sn))}
      facts={[
        ...facts,
        <>
          last data <Moment at={last_data_at} />
        </>,
      ]}
    >
      <RowButton
        name={sn}
        text={isPrivate ? 'Make public' : 'Make private'}
        onClick={() => void actions.change('PATCH', path, { private: !isPrivate }, done)}
      />
      {mayRemove ? (
        <ConfirmedButton
          title={`Remove ${sn}?`}
          text="Its data points are erased as well."
          name={sn}
          verb="Remove"
          onConfirm={() => void actions.change('DELETE', path, undefined, `${sn} is removed.`)}
        />
      ) : null}
    </Record>
  )
}
