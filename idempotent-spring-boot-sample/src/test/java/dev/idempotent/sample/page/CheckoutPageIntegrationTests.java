package dev.idempotent.sample.page;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

import javax.sql.DataSource;

import dev.idempotent.sample.ShopTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

@Tag("long")
@ShopTest
class CheckoutPageIntegrationTests {

	private static final String COMPLETE = "Complete: each step took effect once.";

	private static final String UNDONE = "Undone: no step has left an effect.";

	private static final String HALTED = "Halted: an operator must decide.";

	private static final String EFFECTS = "In the services: 1 order, 1 charge, 10 points.";

	private static final String NOTHING_LEFT = "In the services: 0 orders, 1 rejected order, 1 charge, 1 refund, 0 points.";

	private final ShopPage page;

	CheckoutPageIntegrationTests(@LocalServerPort int port) throws IOException {
		this.page = new ShopPage(port);
	}

	@AfterEach
	void close() {
		this.page.close();
	}

	@Test
	void showsTheStepsBeforeTheFirstCheckout() {
		assertThat(this.page.texts("#saga-steps h3")).containsExactly("Order", "Payment", "Points");
		assertThat(this.page.texts("#saga-steps .saga-state")).containsOnly("Not begun");
		assertThat(this.page.isHidden("saga-halted")).isTrue();
	}

	@Test
	void drawsTheStepsAsTheyHappen(@Autowired DataSource dataSource) throws IOException, SQLException {
		try (Connection connection = dataSource.getConnection()) {
			connection.setAutoCommit(false);
			// The gateway cannot charge until the page has shown that it is asked to.
			connection.createStatement().execute("lock table charges in share mode");
			this.page.click("check-out");
			awaitStates("Done", "Acting", "Not begun");
		}
		awaitStates("Done", "Done", "Done");
		this.page.awaitTexts("#saga-sentence", COMPLETE);
		this.page.awaitTexts("#saga-effects", EFFECTS);
	}

	@Test
	void drawsHowStepsAreUndone() throws IOException {
		this.page.choose("outcome", "refused");
		this.page.click("check-out");
		this.page.awaitTexts("#saga-sentence", UNDONE);
		awaitStates("Undone", "Undone", "Undone");
		this.page.awaitTexts("#saga-effects", NOTHING_LEFT);
	}

	@Test
	void showsThatThisJvmFinishesWhatAnotherHasBegun() throws IOException {
		this.page.choose("crash", "after-call");
		this.page.click("check-out");
		this.page.awaitTexts("#saga-sentence", COMPLETE);
		this.page.awaitTexts("#saga-reason", (texts) -> texts.get(0).endsWith("This JVM has finished it."));
		this.page.awaitTexts("#saga-log span",
				(texts) -> texts.stream().anyMatch((text) -> text.endsWith("crashes: after the charge")));
		this.page.awaitTexts("#saga-effects", EFFECTS);
	}

	@Test
	@DisabledOnOs(value = OS.WINDOWS, disabledReason = "its processes know no signals")
	void waitsForASecondJvmWhileOthersAreBusy(@LocalServerPort int port) throws IOException {
		try (ShopPage first = new ShopPage(port); ShopPage second = new ShopPage(port)) {
			for (ShopPage busy : List.of(first, second)) {
				busy.choose("crash", "pause");
				busy.click("check-out");
				busy.awaitTexts("#saga-sentence", (texts) -> texts.get(0).startsWith("Running"));
			}
			this.page.choose("crash", "after-call");
			this.page.click("check-out");
			this.page.awaitTexts("#saga-sentence", COMPLETE);
			this.page.awaitTexts("#saga-reason",
					(texts) -> texts.get(0).endsWith("has crashed. This JVM has finished it."));
			assertThat(this.page.texts("#saga-log span")).noneMatch((text) -> text.contains("paused"));
			for (ShopPage busy : List.of(first, second)) {
				busy.awaitTexts("#saga-reason", (texts) -> texts.get(0).startsWith("This JVM has finished it.")
						&& texts.get(0).contains("continued too late"));
			}
		}
	}

	@Test
	void choosesARefusalForACrashDuringTheRefund() throws IOException {
		this.page.choose("crash", "in-compensation");
		this.page.click("check-out");
		this.page.awaitTexts("#saga-sentence", UNDONE);
		this.page.awaitTexts("#saga-effects", NOTHING_LEFT);
	}

	@Test
	void letsTheVisitorRetryAHaltedRefund() throws IOException {
		halt();
		this.page.click("saga-retry");
		this.page.awaitTexts("#saga-sentence", UNDONE);
		this.page.awaitTexts("#saga-effects", NOTHING_LEFT);
	}

	@Test
	void letsTheVisitorSkipAHaltedRefundWithANote() throws IOException {
		halt();
		this.page.type("saga-note", "Paid back in cash");
		this.page.click("saga-skip");
		this.page.awaitTexts("#saga-sentence", UNDONE);
		awaitStates("Undone", "Undone by hand", "Undone");
		assertThat(this.page.texts("#saga-steps p")).contains("Paid back in cash");
	}

	private void halt() throws IOException {
		this.page.choose("outcome", "halted");
		this.page.click("check-out");
		this.page.awaitTexts("#saga-sentence", HALTED);
		assertThat(this.page.isHidden("saga-halted")).isFalse();
	}

	private void awaitStates(String... states) {
		this.page.awaitTexts("#saga-steps .saga-state", states);
	}

}
