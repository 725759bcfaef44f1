package dev.idempotent.autoconfigure.actuate;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import dev.idempotent.autoconfigure.actuate.KeyApplication.Audits;
import dev.idempotent.idempotency.Claim;
import dev.idempotent.idempotency.Fingerprint;
import dev.idempotent.idempotency.ForwardingStore;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStore;
import dev.idempotent.idempotency.IdempotencyStoreUnavailableException;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.RunOrigin;
import dev.idempotent.idempotency.Samples;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.test.InMemoryIdempotencyStore;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static dev.idempotent.autoconfigure.actuate.SecuredEndpoints.basic;
import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the idempotency endpoint with limited access, and with other stores.
 */
class IdempotencyEndpointAccessTests {

	private static final String EXPOSED = "management.endpoints.web.exposure.include=idempotency";

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private final IdempotencyKey key = Samples.key();

	@Test
	void isNotExposedByDefault() {
		try (WebApplication application = start(Application.class)) {
			assertThat(get(application, "").statusCode()).isEqualTo(404);
			assertThat(release(application).statusCode()).isEqualTo(404);
		}
	}

	@Test
	void changesNothingWithReadOnlyAccess() {
		try (WebApplication application = start(Application.class, EXPOSED,
				"management.endpoint.idempotency.access=read-only")) {
			claim(application);
			assertThat(get(application, "").statusCode()).isEqualTo(200);
			assertThat(get(application, "/" + this.key).statusCode()).isEqualTo(200);
			assertThat(application.post("/actuator/idempotency", "{}").statusCode()).isEqualTo(405);
			assertThat(release(application).statusCode()).isEqualTo(404);
			assertThat(forget(application).statusCode()).isEqualTo(404);
			assertThat(application.bean(IdempotencyStore.class).find(this.key)).isNotNull();
		}
	}

	@Test
	void refusesABodyThatIsNotJson() {
		try (WebApplication application = start(Application.class, EXPOSED)) {
			assertThat(application.post("/actuator/idempotency", "{").statusCode()).isEqualTo(400);
		}
	}

	@Test
	void auditsThePrincipalOfASecuredEndpoint() {
		try (WebApplication application = start(SecuredApplication.class, EXPOSED, WebApplication.WITH_SECURITY)) {
			claim(application);
			assertThat(release(application).statusCode()).isEqualTo(401);
			assertThat(release(application, "Authorization", basic("customer")).statusCode()).isEqualTo(403);
			assertThat(application.bean(IdempotencyStore.class).find(this.key)).isNotNull();
			assertThat(release(application, "Authorization", basic("operator")).statusCode()).isEqualTo(200);
			assertThat(application.bean(IdempotencyStore.class).find(this.key)).isNull();
			assertThat(application.bean(Audits.class).events()).singleElement().satisfies((event) -> {
				assertThat(event.getType()).isEqualTo("IDEMPOTENCY_KEY_RELEASED");
				assertThat(event.getPrincipal()).isEqualTo("operator");
			});
		}
	}

	@Test
	void findsTheKeyOfAPrincipal() {
		try (WebApplication application = start(SecuredApplication.class, EXPOSED, WebApplication.WITH_SECURITY)) {
			application.post("/orders", "", "Idempotency-Key", "4711", "Authorization", basic("customer"));
			String find = "/actuator/idempotency";
			assertThat(application
				.post(find, "{\"key\":\"4711\",\"principal\":\"customer\"}", "Authorization", basic("operator"))
				.statusCode()).isEqualTo(200);
			assertThat(application.post(find, "{\"key\":\"4711\"}", "Authorization", basic("operator")).statusCode())
				.isEqualTo(404);
		}
	}

	@Test
	void explainsWhatAStoreOfTheApplicationLacks() {
		try (WebApplication application = start(PlainStoreApplication.class, EXPOSED)) {
			HttpResponse<byte[]> response = get(application, "/" + this.key);
			assertThat(response.statusCode()).isEqualTo(501);
			assertThat(text(response)).contains("PlainStore does not implement IdempotencyStore.find")
				.contains("Implement IdempotencyStore.find and forget");
			assertThat(release(application).statusCode()).isEqualTo(501);
			assertThat(get(application, "").statusCode()).isEqualTo(200);
			Health health = application.bean(IdempotencyHealthIndicator.class).health();
			assertThat(health.getStatus()).isEqualTo(Status.UNKNOWN);
		}
	}

	@Test
	void auditsAChangeWhoseResultIsUnknown() {
		try (WebApplication application = start(SilentStoreApplication.class, EXPOSED)) {
			application.bean(IdempotencyStore.class)
				.complete(this.key, Fingerprint.of(List.of()), "owner", Samples.response("response"), MINUTE);
			HttpResponse<byte[]> response = forget(application);
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(text(response)).contains("did not respond", "Repeat the request").doesNotContain("s3cret");
			assertThat(application.bean(Audits.class).events()).singleElement()
				.satisfies((event) -> assertThat(event.getData()).containsEntry("outcome", "UNKNOWN"));
		}
	}

	@Test
	void tellsHowLongTheReplayCachesOfOtherInstancesLast() {
		try (WebApplication application = start(Application.class, EXPOSED, "idempotent.replay-cache.max-size=1MB",
				"idempotent.replay-cache.ttl=30s")) {
			application.bean(IdempotencyStore.class)
				.complete(this.key, Fingerprint.of(List.of()), "owner", Samples.response("response"), MINUTE);
			assertThat(text(forget(application))).contains("for up to PT30S (idempotent.replay-cache.ttl)");
		}
	}

	@Test
	void showsDurationsAndTimesInTheIsoFormatWhateverTheMapperOfTheApplication() {
		try (WebApplication application = start(Application.class, EXPOSED,
				"management.endpoints.jackson.isolated-json-mapper=false",
				"spring.jackson.datatype.datetime.write-durations-as-timestamps=true",
				"spring.jackson.datatype.datetime.write-dates-as-timestamps=true")) {
			String token = new RunOrigin(Instant.now(), Guarantee.LEASE, null).toToken(UUID.randomUUID().toString());
			application.bean(IdempotencyStore.class).claim(this.key, Fingerprint.of(List.of()), token, MINUTE);
			assertThat(text(get(application, ""))).contains("\"oldestUnsettledAge\":\"PT");
			assertThat(text(get(application, "/" + this.key))).contains("\"remaining\":\"PT")
				.contains("\"since\":\"20");
		}
	}

	private void claim(WebApplication application) {
		assertThat(application.bean(IdempotencyStore.class).claim(this.key, Fingerprint.of(List.of()), "owner", MINUTE))
			.isEqualTo(new Claim.Acquired());
	}

	private HttpResponse<byte[]> release(WebApplication application, String... headers) {
		return application.post("/actuator/idempotency/" + this.key + "/release", "{}", headers);
	}

	private HttpResponse<byte[]> forget(WebApplication application) {
		return application.post("/actuator/idempotency/" + this.key + "/forget", "{}");
	}

	private static HttpResponse<byte[]> get(WebApplication application, String path) {
		return application.send(application.request("/actuator/idempotency" + path).GET().build());
	}

	private static WebApplication start(Class<?> source, String... properties) {
		List<String> all = new ArrayList<>(List.of("management.health.redis.enabled=false"));
		all.addAll(List.of(properties));
		return WebApplication.start(source, List::of, all.toArray(String[]::new));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Audits.class)
	static class Application {

		@Bean
		IdempotencyStore store() {
			return new InMemoryIdempotencyStore(InstantSource.system());
		}

	}

	@RestController
	static class Orders {

		@PostMapping("/orders")
		@Idempotent
		String order() {
			return "ordered";
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Orders.class, SecuredEndpoints.class })
	static class SecuredApplication extends Application {

		@Bean
		SecurityFilterChain customers(HttpSecurity http) {
			return http.securityMatcher("/orders")
				.authorizeHttpRequests((requests) -> requests.anyRequest().authenticated())
				.csrf((csrf) -> csrf.disable())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Audits.class)
	static class PlainStoreApplication {

		@Bean
		IdempotencyStore store() {
			return new PlainStore();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Audits.class)
	static class SilentStoreApplication {

		@Bean
		IdempotencyStore store() {
			IdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());
			return new ForwardingStore() {

				@Override
				protected IdempotencyStore target() {
					return store;
				}

				@Override
				public boolean forget(IdempotencyKey key, String token) {
					super.forget(key, token);
					throw new IdempotencyStoreUnavailableException("No reply to s3cret", null);
				}

			};
		}

	}

	/**
	 * A store with the verbs of claims only.
	 */
	static final class PlainStore implements IdempotencyStore {

		private final IdempotencyStore store = new InMemoryIdempotencyStore(InstantSource.system());

		@Override
		public Claim claim(IdempotencyKey key, Fingerprint fingerprint, String token, Duration lease) {
			return this.store.claim(key, fingerprint, token, lease);
		}

		@Override
		public boolean complete(IdempotencyKey key, Fingerprint fingerprint, String token, StoredResponse response,
				Duration retention) {
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

	}

}
