/** Everything of topics that needs a real broker, with one, in this order: the last tests kill it. */

import './kafka/topic.ts'
import './kafka/network.ts'
import './kafka/secured.ts'
import './kafka/watch.ts'
import './kafka/forwarding.ts'
import './kafka/faults.ts'
