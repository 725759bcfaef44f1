package dev.idempotent.stream;

/**
 * A listener method and the consumer group that it belongs to.
 *
 * @param stream the key of the stream
 * @param group the consumer group
 * @param concurrency the number of workers
 * @param method called for each entry
 */
record Subscription(String stream, String group, int concurrency, ListenerMethod method) {

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

}
