use super::Command;
use crate::core::{Result, Table, Value, cuda_available, device_name, memory_in_use, visible};
use crate::dialogue::{Dialogue, Next};
use crate::term::width;

pub static VARS: Command = Command {
    name: "vars",
    arguments: "",
    help: "Lists the variables: what they are, the memory of tensors, and with a GPU on which device they lie.",
    run,
};

fn run(dialogue: &mut Dialogue, _rest: &str) -> Result<Next> {
    let variables = dialogue.session.borrow().listing();
    if variables.is_empty() {
        dialogue.output.print("no variables yet");
        return Ok(Next::Line);
    }
    let text = |s: String| Value::Str(s);
    let mut names = Vec::new();
    let (mut kinds, mut memory, mut devices, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for variable in variables {
        names.push(text(variable.name));
        kinds.push(text(if variable.constant { format!("const {}", variable.kind) } else { variable.kind.into() }));
        memory.push(text(variable.bytes.map(bytes).unwrap_or_default()));
        devices.push(text(variable.devices.into_iter().collect::<Vec<_>>().join(", ")));
        values.push(text(variable.summary));
    }
    let table = Table::default().column("name", names).column("kind", kinds);
    let with_memory = memory.iter().any(|cell| !matches!(cell, Value::Str(text) if text.is_empty()));
    let table = if with_memory { table.column("memory", memory) } else { table };
    let table = if cuda_available() { table.column("device", devices) } else { table };
    dialogue.output.print(&visible(&table.column("value", values).text(width(), usize::MAX)));
    let device = dialogue.session.borrow().cx().device();
    if let Some((used, total)) = memory_in_use(device) {
        dialogue.output.print(&format!(
            "{} has {} of {} in use, by everything that runs there",
            device_name(device),
            bytes(used),
            bytes(total)
        ));
    }
    Ok(Next::Line)
}

fn bytes(n: usize) -> String {
    let (mut size, mut unit) = (n as f64, "B");
    for next in ["KiB", "MiB", "GiB", "TiB"] {
        if size < 1000.0 {
            break;
        }
        (size, unit) = (size / 1024.0, next);
    }
    let decimals = usize::from(unit != "B" && size < 100.0);
    format!("{size:.decimals$} {unit}")
}
