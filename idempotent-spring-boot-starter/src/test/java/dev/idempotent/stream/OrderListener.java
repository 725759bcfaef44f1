package dev.idempotent.stream;

import java.util.Map;

import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.Script;

/**
 * The listener of most tests.
 */
class OrderListener {

	private final Script script;

	OrderListener(Script script) {
		this.script = script;
	}

	@RedisStreamListener(stream = "${test.stream}", group = "${test.group:notifications}")
	void on(Order order, Map<String, String> headers) throws Exception {
		this.script.on(order, headers);
	}

}
