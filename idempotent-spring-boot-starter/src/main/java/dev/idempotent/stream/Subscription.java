package dev.idempotent.stream;

import dev.idempotent.advice.ListenerMethod;
import dev.idempotent.advice.ListenerMethod.UnreadablePayloadException;

/**
 * A listener method and the consumer group that it belongs to.
 *
 * @param stream the key of the stream
 * @param group the consumer group
 * @param concurrency the number of workers
 * @param method called for each entry
 * @param converter converts payloads
 */
record Subscription(String stream, String group, int concurrency, ListenerMethod method, PayloadConverter converter) {

	@Override
	public String toString() {
		return "group " + this.group + " of stream " + this.stream;
	}

	ConsumerGroup consumerGroup() {
		return new ConsumerGroup(this.stream, this.group);
	}

	String deadStream() {
		return this.stream + "." + this.group + ".dead";
	}

	/**
	 * Calls the method with an entry.
	 * @throws UnreadablePayloadException if the payload cannot be converted
	 * @throws Throwable what the method throws
	 */
	void call(Entry entry) throws Throwable {
		this.method.invoke(this.method.arguments(entry.headers(), entry.payload(), this.converter::read));
	}

}
