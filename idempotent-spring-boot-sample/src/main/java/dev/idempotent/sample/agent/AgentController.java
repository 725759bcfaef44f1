package dev.idempotent.sample.agent;

import java.util.List;

import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/**
 * Lets the scripted agent shop on this instance, and returns what it has done.
 */
@RestController
class AgentController {

	private final Environment environment;

	AgentController(Environment environment) {
		this.environment = environment;
	}

	@PostMapping("/api/agent")
	List<AgentCall> run(@Valid @RequestBody StartAgent command) throws InterruptedException {
		String self = "http://127.0.0.1:" + this.environment.getRequiredProperty("local.server.port");
		return new Agent(self).buy(command.customer(), command.otherCustomer());
	}

	/**
	 * A request that starts the agent.
	 */
	record StartAgent(@NotBlank String customer, @NotBlank String otherCustomer) {

	}

}
