package dev.idempotent.idempotency.client;

import java.util.function.Consumer;

import org.springframework.web.client.RestClient;

/**
 * Makes a {@link RestClient} send the keys of the runs and saga steps that use it,
 * whatever its URLs. Injected, and applied to a builder as Spring Boot's
 * {@code RestClientSsl} is:
 *
 * <pre class="code">
 * this.payments = builder.baseUrl(url).apply(keys.forService("payments")).build();
 * </pre>
 *
 * Thread-safe.
 */
public final class RestClientKeys {

	private final IdempotencyKeyInterceptor interceptor;

	private volatile boolean used;

	/**
	 * Creates the keys of clients.
	 * @param interceptor knows the targets of the application
	 */
	public RestClientKeys(IdempotencyKeyInterceptor interceptor) {
		this.interceptor = interceptor;
	}

	/**
	 * Returns what makes the client of one service send keys. Each unsafe call of the
	 * client in a run or step carries the key that the same call to this service would
	 * have as one of {@code idempotent.client.targets}. Outside them, calls are
	 * unchanged.
	 * @param name the name of the service, of at most 100 letters, digits, dashes and
	 * underscores with a letter among them. It must not change while calls to the service
	 * may be repeated, and is the name in {@code idempotent.client.targets} if the
	 * service is listed there, too
	 * @return what the builder applies
	 * @throws IllegalArgumentException if the name is not of this form
	 */
	public ServiceKeys forService(String name) {
		ServiceKeys keys = new ServiceKeys(this.interceptor.forService(name));
		this.used = true;
		return keys;
	}

	/**
	 * Whether the application has a client that sends keys by this bean.
	 * @return whether {@link #forService} was called
	 */
	public boolean isUsed() {
		return this.used;
	}

	/**
	 * The keys of the client of one service. Puts the interceptor before those that the
	 * builder has. Thread-safe.
	 */
	public static final class ServiceKeys implements Consumer<RestClient.Builder> {

		private final IdempotencyKeyInterceptor interceptor;

		private ServiceKeys(IdempotencyKeyInterceptor interceptor) {
			this.interceptor = interceptor;
		}

		/**
		 * States that the service does nothing twice under one key, and answers a
		 * repeated request as the first one: a saga believes its refusal of a repeated
		 * call. The same as {@code idempotent.client.honouring-keys} for a target.
		 * @return other keys, which state it; these do not
		 */
		public ServiceKeys honouringKeys() {
			return new ServiceKeys(this.interceptor.honouringKeys());
		}

		@Override
		public void accept(RestClient.Builder builder) {
			builder.requestInterceptors((interceptors) -> {
				interceptors.removeIf(IdempotencyKeyInterceptor.class::isInstance);
				interceptors.add(0, this.interceptor);
			});
		}

	}

}
