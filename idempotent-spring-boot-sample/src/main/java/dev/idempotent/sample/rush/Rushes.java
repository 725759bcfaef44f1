package dev.idempotent.sample.rush;

import java.net.URI;
import java.util.List;

import dev.idempotent.sample.rush.RushPlan.Behaviour;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/**
 * Creates rushes on this instance.
 */
@Component
class Rushes {

	private final SaleAuditor auditor;

	private final Environment environment;

	Rushes(SaleAuditor auditor, Environment environment) {
		this.auditor = auditor;
		this.environment = environment;
	}

	/**
	 * Returns a rush of people, some of whose requests fail on purpose.
	 */
	Rush ofPeople(int users, int stock, int perUser) {
		boolean chaos = this.environment.getProperty("sample.chaos.enabled", Boolean.class, true);
		return of(new RushPlan(users, stock, perUser, Behaviour.PEOPLE, false, chaos));
	}

	/**
	 * Returns a rush of users who behave equally.
	 */
	Rush of(int users, int stock, Behaviour behaviour, boolean naive) {
		return of(new RushPlan(users, stock, 1, behaviour, naive, false));
	}

	private Rush of(RushPlan plan) {
		URI self = URI.create("http://127.0.0.1:" + this.environment.getRequiredProperty("local.server.port"));
		return new Rush(plan, new ShopHttp(List.of(self)), this.auditor);
	}

}
