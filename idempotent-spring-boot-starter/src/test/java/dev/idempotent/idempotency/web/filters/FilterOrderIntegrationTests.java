package dev.idempotent.idempotency.web.filters;

import java.net.http.HttpResponse;
import java.util.UUID;

import dev.idempotent.idempotency.web.filters.FilteredApplication.AnswerFilter;
import dev.idempotent.idempotency.web.filters.FilteredApplication.ApiKeyFilter;
import dev.idempotent.idempotency.web.filters.FilteredApplication.Gate;
import dev.idempotent.testing.RealRedis;
import dev.idempotent.testing.RunningApplication;
import dev.idempotent.testing.WebApplication;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static dev.idempotent.testing.WebApplication.text;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A replay passes every filter of the application, however it is registered.
 */
class FilterOrderIntegrationTests {

	private static final String KEY = "Idempotency-Key";

	@RegisterExtension
	static final RealRedis redis = RealRedis.shared();

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication onTomcat = on("tomcat");

	@Order(RunningApplication.AFTER_ITS_SERVERS)
	@RegisterExtension
	static final RunningApplication onJetty = on("jetty");

	private final String key = UUID.randomUUID().toString();

	@ParameterizedTest
	@CsvSource({ "tomcat, /shop/orders", "tomcat, /other/orders", "jetty, /shop/orders", "jetty, /other/orders" })
	void passesEachFilterOfTheApplication(String container, String path) {
		assertThat(text(post(container, path, "alice"))).isEqualTo("run 1");
		for (String gate : Gate.names()) {
			HttpResponse<byte[]> refused = post(container, path, "alice", Gate.CLOSED, gate);
			assertThat(refused.statusCode()).as(gate).isEqualTo(403);
			assertThat(text(refused)).isEqualTo(gate);
		}
		assertReplayed(post(container, path, "alice"), "run 1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void isOnlyForTheCallerThatAFilterHasAuthenticated(String container) {
		assertThat(text(post(container, "/shop/orders", "alice"))).isEqualTo("run 1");
		assertThat(text(post(container, "/shop/orders", "bob"))).isEqualTo("run 2");
		HttpResponse<byte[]> stranger = application(container).post("/shop/orders", "", KEY, this.key);
		assertThat(stranger.statusCode()).isEqualTo(401);
		assertThat(stranger.body()).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void isRefusedToACallerWhoHasNoName(String container) {
		HttpResponse<byte[]> refused = post(container, "/shop/orders", "");
		assertThat(refused.statusCode()).isEqualTo(500);
		assertThat(text(refused)).contains("caller-unknown", "Contact the operator.")
			.doesNotContain("IdempotencyScopeResolver");
		assertThat(text(post(container, "/shop/orders", "alice"))).isEqualTo("run 1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void hasTheHeadersThatFiltersAddToTheReplay(String container) {
		HttpResponse<byte[]> first = post(container, "/shop/orders", "alice", AnswerFilter.LOUD, "yes");
		assertThat(text(first)).isEqualTo("RUN 1");
		assertThat(first.headers().firstValue(AnswerFilter.WRITTEN)).hasValue("loudly");

		HttpResponse<byte[]> quiet = post(container, "/shop/orders", "alice");
		assertReplayed(quiet, "run 1");
		assertThat(quiet.headers().firstValue(AnswerFilter.WRITTEN)).isEmpty();

		HttpResponse<byte[]> loud = post(container, "/shop/orders", "alice", AnswerFilter.LOUD, "yes");
		assertReplayed(loud, "RUN 1");
		assertThat(loud.headers().firstValue(AnswerFilter.WRITTEN)).hasValue("loudly");
	}

	@ParameterizedTest
	@ValueSource(strings = { "tomcat", "jetty" })
	void hasIncludedContentAndWhatFollowsIt(String container) {
		String first = text(post(container, "/shop/orders/composed", "alice"));
		assertThat(first).isEqualTo("part of run 1");
		assertReplayed(post(container, "/shop/orders/composed", "alice"), first);
	}

	private static void assertReplayed(HttpResponse<byte[]> response, String body) {
		assertThat(text(response)).isEqualTo(body);
		assertThat(response.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	private HttpResponse<byte[]> post(String container, String path, String caller) {
		return application(container).post(path, "", KEY, this.key, ApiKeyFilter.API_KEY, caller);
	}

	private HttpResponse<byte[]> post(String container, String path, String caller, String header, String value) {
		return application(container).post(path, "", KEY, this.key, ApiKeyFilter.API_KEY, caller, header, value);
	}

	private static RunningApplication application(String container) {
		return container.equals("jetty") ? onJetty : onTomcat;
	}

	private static RunningApplication on(String container) {
		return RunningApplication
			.of(() -> WebApplication.start(FilteredApplication.class, redis, "test.container=" + container,
					WebApplication.WITH_OPERATIONS))
			.resetting(FilteredApplication.Orders.class, FilteredApplication.Orders::reset);
	}

}
