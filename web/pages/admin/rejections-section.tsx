/** Readings that were not taken, newest first: by which way they came, from whom, and why. */

import { countText } from '../../../analytics/findings/value-words.ts'
import type { Rejection, RejectionPage } from '../../../api/admin/rejection-answers.ts'
import { setArguments, urlArguments } from '../../client/address.ts'
import { ListSection } from '../../parts/list-section.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Record as Row } from '../../parts/record.tsx'
import { wayNames } from '../../text/way-names.ts'

const sentences: Record<Rejection['way'], string> = {
  put: 'One reading a request, to /api/log. The answer holds the reason.',
  batch: 'Many readings a request, to /api/log/batch. The answer lists the first 1,000 reasons.',
  line_protocol: 'Points of Telegraf and clients of InfluxDB. The answer names the first ten lines.',
  mqtt: 'One reading a message. Only clients of MQTT 5 get the reason.',
  webhook: 'A message of a sensor in a format of its own, to /in. The answer holds the reason.',
  import: 'Files of an administrator. The command line prints the reasons.',
  import_points: 'Files with points of stations, by an administrator.',
  air_quality: 'Points of a station, by the API of the network. The answer names each point that is not stored.',
}

export function RejectionsSection() {
  const [way = '', device = '', node = ''] = ['way', 'device', 'node'].map(name => urlArguments.value.get(name) ?? '')
  return (
    <>
      <Filters way={way} device={device} />
      <ListSection
        path="/rejections"
        noun="rejections"
        pageArgument="after"
        more={{ way, device, node }}
        nextArguments={({ node }: RejectionPage) => (node === undefined ? {} : { node: node.id })}
        summary={summaryOf}
        itemsOf={(page: RejectionPage) => page.rejections}
        keyOf={rejection => rejection.id}
        row={rejection => <RejectionRow rejection={rejection} />}
      />
      <h2>Ways in</h2>
      <dl class="ways">
        {(Object.keys(sentences) as Rejection['way'][]).map(way => (
          <div key={way}>
            <dt>{wayNames[way]}</dt>
            <dd>{sentences[way]}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}

function summaryOf({ rejected, since, node }: RejectionPage) {
  const at = node === undefined ? '' : ` at node ${node.id} on ${node.host}`
  const others = node === undefined ? '' : ' Each node has its own.'
  return (
    <>
      {countText(rejected)} rejected since <Moment at={since} />
      {at}. The latest 1,000 kinds are kept until a restart.{others}
    </>
  )
}

function Filters({ way, device }: { way: string; device: string }) {
  return (
    <div class="fields">
      <label class="field">
        Way
        <select
          value={way}
          onChange={({ currentTarget }) =>
            setArguments({ way: currentTarget.value, after: undefined, node: undefined })
          }
        >
          <option value="">all ways</option>
          {Object.entries(wayNames).map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Device or station
        <input
          type="search"
          value={device}
          maxLength={256}
          onInput={({ currentTarget }) =>
            setArguments({ device: currentTarget.value, after: undefined, node: undefined }, { replace: true })
          }
        />
      </label>
    </div>
  )
}

function RejectionRow({ rejection }: { rejection: Rejection }) {
  const { at, first_at, way, device, sender, reason, count } = rejection
  const often =
    count === 1 ? undefined : (
      <>
        {countText(count)} times since <Moment at={first_at} />
      </>
    )
  return <Row name={reason} facts={[<Moment at={at} />, wayNames[way], device ?? undefined, `by ${sender}`, often]} />
}
