package dev.idempotent.outbox.method;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;

import dev.idempotent.outbox.TransactionalOutbox;
import org.jspecify.annotations.Nullable;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Methods that append events.
 */
class Orders {

	record Order(String id, int amount, List<String> items) {
	}

	@Transactional
	@TransactionalOutbox(type = "order.created", key = "#result.id")
	Order place(String id, int amount, String... items) {
		return new Order(id, amount, List.of(items));
	}

	@Transactional
	@TransactionalOutbox(type = "order.large", payload = "#id", condition = "#amount > 100")
	@TransactionalOutbox(type = "order.item", payload = "#result.items", forEach = true, key = "#item",
			condition = "#item != 'gift'")
	Order placeWithItems(String id, int amount, String... items) {
		return new Order(id, amount, List.of(items));
	}

	@TransactionalOutbox(type = "order.created", payload = "#id")
	void placeWithoutTransaction(String id, List<String> effects) {
		effects.add(id);
	}

	@Transactional(rollbackFor = IOException.class)
	@TransactionalOutbox(type = "order.created", payload = "#id")
	void failWithRollback(String id) throws IOException {
		throw new IOException("no");
	}

	@Transactional(noRollbackFor = IllegalStateException.class)
	@TransactionalOutbox(type = "order.created", payload = "#id")
	void failWithCommit(String id) {
		throw new IllegalStateException("no");
	}

	@Transactional(propagation = Propagation.REQUIRES_NEW)
	@TransactionalOutbox(type = "order.logged", payload = "#id")
	void log(String id) {
	}

	/**
	 * Parameters whose names clash with nothing.
	 */
	@Transactional
	@TransactionalOutbox(type = "item.added", payload = "#item")
	@TransactionalOutbox(type = "item.seen", payload = "#all", forEach = true)
	void add(String item, int result, List<String> all) {
	}

	@Transactional
	@TransactionalOutbox(type = "order.created")
	@Nullable Order placeNothing() {
		return null;
	}

	@Transactional
	@TransactionalOutbox(type = "order.created", key = "#result.items")
	Order placeWithOddKey() {
		return new Order("1", 1, List.of());
	}

	@Transactional
	@TransactionalOutbox(type = "order.created", payload = "#result.id", forEach = true)
	Order placeWithoutElements() {
		return new Order("1", 1, List.of());
	}

	@Placed
	Order placeByOwnAnnotation(String id) {
		return new Order(id, 1, List.of());
	}

	/**
	 * An application's own annotation.
	 */
	@Transactional
	@TransactionalOutbox(type = "order.placed", key = "#result.id")
	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@interface Placed {

	}

}
