/** All tests of topics that need a real broker, in this order: the last ones kill it. */

import './kafka/topic.ts'
import './kafka/network.ts'
import './kafka/secured.ts'
import './kafka/watch.ts'
import './kafka/forwarding.ts'
import './kafka/faults.ts'
