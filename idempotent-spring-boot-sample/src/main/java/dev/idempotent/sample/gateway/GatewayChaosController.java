package dev.idempotent.sample.gateway;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Lets the gateway refuse refunds.
 */
@RestController
@RequestMapping("/api/chaos/gateway")
@ConditionalOnBooleanProperty(name = "sample.chaos.enabled", matchIfMissing = true)
class GatewayChaosController {

	private final RefundDesk refunds;

	GatewayChaosController(RefundDesk refunds) {
		this.refunds = refunds;
	}

	@GetMapping
	GatewayState state() {
		return new GatewayState(this.refunds.isOpen());
	}

	@PostMapping
	GatewayState apply(@RequestBody GatewayState state) {
		this.refunds.setOpen(state.refunds());
		return state();
	}

	/**
	 * The state of the gateway.
	 *
	 * @param refunds whether it takes refunds; otherwise they get 422
	 */
	record GatewayState(boolean refunds) {

	}

}
