package dev.idempotent.sample.chaos;

import java.time.Duration;
import java.util.Map;

import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.RunDescription;
import dev.idempotent.idempotency.StoredKey;
import dev.idempotent.idempotency.StoredResponse;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * Halts the JVM when a response is about to be stored in the store in front of the
 * database, if the request asks for it.
 */
@Component
@ConditionalOnBooleanProperty(name = "sample.chaos.enabled", matchIfMissing = true)
class HaltingStores implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof IdempotencyStore store && !store.isDatabase()) ? new HaltingStore(store) : bean;
	}

	private record HaltingStore(IdempotencyStore store) implements IdempotencyStore {

		@Override
		public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
			return this.store.claim(key, fingerprint, token, lease);
		}

		@Override
		public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease,
				RunDescription run) {
			return this.store.claim(key, fingerprint, token, lease, run);
		}

		@Override
		public void announce(Map<IdempotencyKey, Duration> pending) {
			this.store.announce(pending);
		}

		@Override
		public @Nullable PendingKeys findPending(int atMost) {
			return this.store.findPending(atMost);
		}

		@Override
		public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
				Duration retention) {
			// The response is stored on the thread of its request, to which Spring Boot
			// binds the request in one of the first filters.
			RequestAttributes request = RequestContextHolder.getRequestAttributes();
			if (request != null
					&& request.getAttribute(Chaos.ATTRIBUTE,
							RequestAttributes.SCOPE_REQUEST) instanceof ChaosRequest chaos
					&& chaos.halt() == Halt.BEFORE_COMPLETE) {
				chaos.halt().strike();
			}
			return this.store.complete(key, fingerprint, token, response, retention);
		}

		@Override
		public boolean release(IdempotencyKey key, String token) {
			return this.store.release(key, token);
		}

		@Override
		public boolean renew(IdempotencyKey key, String token, Duration lease) {
			return this.store.renew(key, token, lease);
		}

		@Override
		public @Nullable StoredKey find(IdempotencyKey key) {
			return this.store.find(key);
		}

		@Override
		public boolean forget(IdempotencyKey key, String token) {
			return this.store.forget(key, token);
		}

		@Override
		public String describe() {
			return this.store.describe();
		}

	}

}
