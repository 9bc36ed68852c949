/** One device. */

import { useMemo } from 'preact/hooks'
import type { PublicDevice } from '../../../api/read/shapes.ts'
import type { LatestOfDevice } from '../../../query/live/fleet-shape.ts'
import { addressOf } from '../../client/address.ts'
import { lastValue } from '../../client/resource-state.ts'
import { useTitle } from '../../client/tab.ts'
import { useResource } from '../../client/use-resource.ts'
import { StateBadge, TagList } from '../../parts/marks.tsx'
import { t, tp } from '../../words/words.ts'
import { measuredDevice } from './answers.ts'
import { MeasuredPage } from './measured-page.tsx'

export function DevicePage({ name }: { name: string }) {
  useTitle(name)
  const of = useMemo(() => measuredDevice(name), [name])
  const about = useResource<PublicDevice>(addressOf(`/api/${of.pathOf('device')}`))
  return (
    <MeasuredPage<LatestOfDevice>
      of={of}
      others={[about]}
      head={latest => <Head name={name} latest={latest} about={lastValue(about)} />}
      unknown={() => <UnknownDevice name={name} />}
    />
  )
}

interface HeadProps {
  name: string
  latest: LatestOfDevice | undefined
  about: PublicDevice | undefined
}

function Head({ name, latest, about }: HeadProps) {
  const { location_desc = '', tags = [] } = about ?? {}
  const place = [latest?.location_short ?? '', location_desc].filter(text => text !== '' && text !== name)
  return (
    <div class="device-head">
      <h1>{name}</h1>
      {latest === undefined ? null : <StateBadge state={latest.state} />}
      {place.length === 0 ? null : <p class="place">{place.join(': ')}</p>}
      {tags.length === 0 ? null : <TagList tags={tags} hrefOf={tag => addressOf(`/?tag=${encodeURIComponent(tag)}`)} />}
    </div>
  )
}

function UnknownDevice({ name }: { name: string }) {
  return (
    <>
      <h1>{t('No such device')}</h1>
      <p>
        {tp('There is no device named {name} here, or it has been removed. {link}', {
          name: <strong>{name}</strong>,
          link: <a href={addressOf('/')}>{t('All devices')}</a>,
        })}
      </p>
    </>
  )
}
