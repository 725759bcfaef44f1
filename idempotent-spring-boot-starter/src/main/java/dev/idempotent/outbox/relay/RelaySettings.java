package dev.idempotent.outbox.relay;

import java.time.Duration;

/**
 * How a relay works.
 *
 * @param owner names this instance, for operators
 * @param batchSize how many events are published at a time
 * @param batchMemory how many bytes of payload are published at a time, if more than one
 * event has so many
 * @param queueCapacity how many events wait in memory after their commit, for each
 * publisher
 * @param queueMemory how many bytes of payload they may have
 * @param workers how many threads deliver events that were handed over, for each
 * publisher
 * @param lease how long this instance holds an event before another may take it
 * @param poll how long to wait before looking for events again after there were some
 * @param idlePoll how long the wait grows while there are none
 * @param fullScan how often to look at all events and not just the latest
 * @param attempts how many attempts an event has
 * @param firstBackOff how long an event waits at most after its first failed attempt;
 * doubled for each further one
 * @param longestBackOff how long an event waits at most
 * @param drain how long to go on delivering what was handed over when the application
 * stops
 */
public record RelaySettings(String owner, int batchSize, long batchMemory, int queueCapacity, long queueMemory,
		int workers, Duration lease, Duration poll, Duration idlePoll, Duration fullScan, int attempts,
		Duration firstBackOff, Duration longestBackOff, Duration drain) {
}
