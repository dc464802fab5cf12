//! Settings by step: a table of boxes.

use askama::Template;

/// A step, or the state without one.
pub(crate) struct MatrixColumn {
    pub(crate) label: String,
    /// Below the label: that the step is active. Empty for other columns.
    pub(crate) active: String,
}

/// A box.
pub(crate) struct MatrixCell {
    pub(crate) name: String,
    pub(crate) is_on: bool,
}

/// A setting, with a box for each column.
pub(crate) struct MatrixRow {
    pub(crate) label: String,
    pub(crate) hint: String,
    pub(crate) cells: Vec<MatrixCell>,
}

/// Settings by step.
#[derive(Template)]
#[template(path = "parts/matrix.html")]
pub(crate) struct Matrix {
    pub(crate) caption: String,
    /// The head of the first column.
    pub(crate) corner: String,
    pub(crate) columns: Vec<MatrixColumn>,
    pub(crate) rows: Vec<MatrixRow>,
}

impl Matrix {
    /// The cells of a row with their columns.
    fn cells<'a>(&'a self, row: &'a MatrixRow) -> impl Iterator<Item = (&'a MatrixColumn, &'a MatrixCell)> {
        self.columns.iter().zip(&row.cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_box_names_its_setting_and_step_and_sends_off_before_on() {
        let column = |label: &str, active: &str| MatrixColumn { label: label.into(), active: active.into() };
        let cell = |name: &str, is_on| MatrixCell { name: name.into(), is_on };
        let row = MatrixRow {
            label: "Votes <open>".into(),
            hint: String::new(),
            cells: vec![cell("a", false), cell("b", true)],
        };
        let matrix = Matrix {
            caption: "Steps".into(),
            corner: "Setting".into(),
            columns: vec![column("Ideas", ""), column("Voting", "active")],
            rows: vec![row],
        };
        let html = matrix.html().into_string();
        assert!(html.contains(r#"<input type="hidden" name="a" value="0">"#));
        assert!(html.contains(r#"<input type="checkbox" name="a" value="1"><span"#));
        assert!(html.contains(r#"<input type="checkbox" name="b" value="1" checked>"#));
        assert!(html.contains("Votes &#60;open&#62;: </span>Voting (active)"));
        assert!(!html.contains("<open>"));
    }
}
