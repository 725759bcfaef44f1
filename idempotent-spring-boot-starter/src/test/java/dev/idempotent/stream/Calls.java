package dev.idempotent.stream;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.idempotent.stream.StreamApplication.Order;
import dev.idempotent.stream.StreamApplication.Script;

/**
 * Records the calls of listeners and runs the script of the test.
 */
class Calls implements Script {

	private final List<String> ids = new CopyOnWriteArrayList<>();

	private final Script next;

	Calls() {
		this((order, headers) -> {
		});
	}

	Calls(Script next) {
		this.next = next;
	}

	@Override
	public void on(Order order, Map<String, String> headers) throws Exception {
		this.ids.add(order.id());
		this.next.on(order, headers);
	}

	List<String> ids() {
		return this.ids;
	}

	int count(String id) {
		return (int) this.ids.stream().filter(id::equals).count();
	}

}
