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
import { t, tn, tp } from '../../words/words.ts'

const fields: FormField[] = [
  { name: 'sn', label: t('Serial number'), isRequired: true },
  { name: 'model', label: t('Model'), isRequired: true },
  { name: 'city', label: t('City') },
  { name: 'country', label: t('Country'), hint: t('Two letters') },
  { name: 'latitude', label: t('Latitude'), kind: 'number' },
  { name: 'longitude', label: t('Longitude'), kind: 'number' },
  { name: 'timezone', label: t('Time zone'), hint: t('As Europe/Berlin') },
  { name: 'private', label: t('Private'), kind: 'check' },
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
          title={t('Add a station')}
          isStrong
          verb={t('Add')}
          fields={fields}
          isBusy={isBusy}
          onSend={async values =>
            (await change('POST', '/stations', values, t('{name} is added.', { name: String(values['sn']) }))) !==
            undefined
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
  const facts = [model, city ?? undefined, country ?? undefined, isPrivate ? t('private') : t('public')]
  const done = isPrivate ? t('{name} is public.', { name: sn }) : t('{name} is private.', { name: sn })
  return (
    <Record
      name={sn}
      href={addressOf(stationPath(sn))}
      facts={[...facts, tp('last data {moment}', { moment: <Moment at={last_data_at} /> })]}
    >
      <RowButton
        name={sn}
        text={isPrivate ? t('Make public') : t('Make private')}
        onClick={() => void actions.change('PATCH', path, { private: !isPrivate }, done)}
      />
      {mayRemove ? (
        <ConfirmedButton
          title={t('Remove {name}?', { name: sn })}
          text={t('Its data points are erased as well.')}
          name={sn}
          verb={t('Remove')}
          onConfirm={() => void actions.change('DELETE', path, undefined, t('{name} is removed.', { name: sn }))}
        />
      ) : null}
    </Record>
  )
}
