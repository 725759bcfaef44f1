package dev.idempotent.sample.checkout;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

import dev.idempotent.sample.ShopClient;
import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * The first owner of each checkout is a second JVM, which crashes. The page's tests have
 * the crash during the refund.
 */
@Tag("long")
@ShopTest
class CheckoutCrashIntegrationTests {

	private static final int CUSTOMERS = 5;

	private final ShopClient shop;

	CheckoutCrashIntegrationTests(@LocalServerPort int port) {
		this.shop = new ShopClient(port);
	}

	@ParameterizedTest
	@ValueSource(strings = { "after-start", "before-commit", "after-commit", "before-call", "after-credit",
			"before-complete", "after-complete" })
	void isFinishedByThisJvm(String moment) {
		CheckoutClient customer = startedAtOwner(10, moment, "HALTS");
		customer.await(customer.start(), "COMPLETED");
		assertThat(customer.effects()).isEqualTo(CheckoutIntegrationTests.ALL);
	}

	@Test
	void isUndoneByThisJvm() {
		CheckoutClient customer = startedAtOwner(500, "after-call", "HALTS");
		customer.await(customer.start(), "COMPENSATED");
		assertThat(customer.effects()).isEqualTo(CheckoutIntegrationTests.UNDONE);
	}

	@Test
	@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
	void isFinishedByThisJvmDuringAPauseOfItsOwner() {
		long before = new CheckoutClient(this.shop, 10, "card", "pause").lastEvent();
		CheckoutClient customer = startedAtOwner(10, "pause", "PAUSES");
		customer.await(customer.start(), "COMPLETED");
		customer.awaitOwner(before, "FENCED", "checkout");
		assertThat(customer.effects()).isEqualTo(CheckoutIntegrationTests.ALL);
	}

	@Test
	void isAnsweredToARetryAtThisJvm() {
		CheckoutClient customer = new CheckoutClient(this.shop, 10, "card", "after-call");
		long before = customer.lastEvent();
		assertThat(customer.send("/api/chaos/checkout").statusCode()).isEqualTo(502);
		customer.awaitOwner(before, "HALTS", "after-call");
		assertThat(customer.sendUntilAnswered("/api/checkout").body()).contains("\"points\":10");
		assertThat(customer.effects()).isEqualTo(CheckoutIntegrationTests.ALL);
	}

	/**
	 * Lets customers start checkouts until the second JVM runs one: where processors are
	 * busy, this one may be faster.
	 */
	private CheckoutClient startedAtOwner(int points, String moment, String what) {
		List<String> others = new ArrayList<>();
		for (int i = 0; i < CUSTOMERS; i++) {
			CheckoutClient customer = new CheckoutClient(this.shop, points, "card", moment);
			HttpResponse<String> other = customer.startAtOwner(what, moment);
			if (other == null) {
				return customer;
			}
			others.add(other.statusCode() + " " + other.body());
		}
		return fail("The second JVM has run none of the checkouts: " + others);
	}

}
